export type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

/** Resolves after `ms` milliseconds; rejects with the signal's reason when the signal is aborted. */
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
    // Signals may live long: a thousand pauses must not leave a thousand listeners.
    signal.removeEventListener("abort", abort);
  }
}
