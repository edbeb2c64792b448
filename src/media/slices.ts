// Long work on the event loop in short pieces, and waiting that ends with the request.

/** About a millisecond or two of byte-wise work. */
const SLICE_BYTES = 1 << 20;

/** Calls `work` with one range after the other up to `count`, and lets others run in between. */
export async function inSlices(
  count: number,
  signal: AbortSignal,
  work: (from: number, to: number) => void,
  step = SLICE_BYTES,
): Promise<void> {
  for (let from = 0; from < count; from += step) {
    if (from > 0) await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    work(from, Math.min(count, from + step));
  }
}

/** SHA-256 in hex. `label` tells apart contents whose bytes are equal. */
export async function contentHash(label: string, bytes: Uint8Array, signal: AbortSignal): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  hasher.update(label);
  await inSlices(bytes.length, signal, (from, to) => hasher.update(bytes.subarray(from, to)));
  return hasher.digest("hex");
}

/** Waits for `work`, or throws the signal's reason; work that cannot be stopped goes on unheard. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([aborted.promise, work]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
