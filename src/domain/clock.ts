// Time as a dependency, so that schedulers, limits and stores run on a fake clock in tests.

export interface Clock {
  /** Monotonic milliseconds; only differences mean anything. */
  now(): number;
  /** Wall clock in milliseconds since 1970. */
  wall(): number;
}

/** Returns the time in whole Unix seconds, the unit of most API resources. */
export const unixSeconds = (clock: Pick<Clock, "wall">): number => Math.floor(clock.wall() / 1000);

/** A clock with timers. */
export interface Timers extends Clock {
  /** Calls `act` once, `ms` milliseconds from now. Returns a function that cancels the call. */
  after(ms: number, act: () => void): () => void;
}

/** The real clock. */
export const systemClock: Timers = {
  now: () => performance.now(),
  wall: () => Date.now(),
  after: (ms, act) => {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
};
