// Splits long work on the event loop into short slices.

import { nextTurn } from "../domain/next-turn.ts";

/** A signal for work that is never stopped. */
export const neverAborted: AbortSignal = new AbortController().signal;

/** Bytes per slice: a millisecond or two of byte-wise work. */
const SLICE_BYTES = 1 << 20;

/** Calls `work` with consecutive ranges up to `count`; yields in between. Throws the signal's reason. */
export async function inSlices(
  count: number,
  signal: AbortSignal,
  work: (from: number, to: number) => void,
  step = SLICE_BYTES,
): Promise<void> {
  for (let from = 0; from < count; from += step) {
    if (from > 0) await nextTurn();
    signal.throwIfAborted();
    work(from, Math.min(count, from + step));
  }
}

/** Returns SHA-256 in hex. `label` distinguishes contents whose bytes are equal. */
export async function contentHash(label: string, bytes: Uint8Array, signal: AbortSignal): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  hasher.update(label);
  await inSlices(bytes.length, signal, (from, to) => hasher.update(bytes.subarray(from, to)));
  return hasher.digest("hex");
}
