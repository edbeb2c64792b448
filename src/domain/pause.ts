export type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

/** Resolves after so many milliseconds; rejects with the signal's reason when it is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    // Signals may live long: what waits a thousand times must not leave a thousand listeners.
    signal.removeEventListener("abort", abort);
  }
}
