// Waiting that can be ended.

export type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

/** Resolves after so many milliseconds, or when the signal is aborted. */
export const pause: Pause = (ms, signal) => {
  if (signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  const timer = setTimeout(end, ms);
  signal.addEventListener("abort", end, { once: true });
  return promise.finally(() => {
    clearTimeout(timer);
    // Signals live as long as a batch: what waits a thousand times must not leave a thousand listeners.
    signal.removeEventListener("abort", end);
  });
};
