// Time as a dependency, so that schedulers and stores run on a fake clock in tests.

export interface Clock {
  /** Monotonic milliseconds; only differences mean anything. */
  now(): number;
  /** Wall clock in milliseconds since 1970. */
  wall(): number;
}

/** The real clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wall: () => Date.now(),
};
