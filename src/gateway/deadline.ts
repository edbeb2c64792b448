// Waiting for other servers: never for ever, and no longer than anybody wants to know.

/** Settles with `work`, or rejects: with `late()` after `ms`, with the signal's reason when it is aborted. */
export async function within<T>(
  work: Promise<T>,
  { ms, signal, late }: { readonly ms: number; readonly signal: AbortSignal; readonly late: () => Error },
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  const timer = setTimeout(() => reject(late()), ms);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  // Whichever loses the race is nobody's any more.
  work.catch(() => {});
  promise.catch(() => {});
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

/** Resolves when `work` has settled, or after `ms`, when it goes on by itself. */
export async function settled(work: Promise<unknown>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work.catch(() => {}), promise]);
  clearTimeout(timer);
}
