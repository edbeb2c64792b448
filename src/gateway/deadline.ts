// Limits how long svc waits for other servers.

/** Settles with `work`, or rejects with `late()` after `ms`, or with the signal's reason when it is aborted. */
export async function within<T>(
  work: Promise<T>,
  { ms, signal, late }: { readonly ms: number; readonly signal?: AbortSignal; readonly late: () => Error },
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal?.reason);
  const timer = setTimeout(() => reject(late()), ms);
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted) abort();
  // Rejections of the losing promise are ignored.
  work.catch(() => {});
  promise.catch(() => {});
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/** Resolves when `work` has settled, or after `ms`; `work` then continues. */
export async function settled(work: Promise<unknown>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work.catch(() => {}), promise]);
  clearTimeout(timer);
}
