// Estimates the memory of an embedding model.

import { whyUnserved } from "./architectures.ts";
import { kvBytesPerToken } from "./context.ts";
import type { EmbeddingFile } from "./model-file.ts";

/** Tokens that the engine computes together: in `child/loop` at least, in embed.cpp at most where it computes in pieces. */
const ROWS_AT_ONCE = 256;

/**
 * Returns the bytes of an embedding model that takes inputs of `maxTokens`: the weights, and for a language model its KV
 * cache and the logits of the rows that are computed together, in the compute buffer and outside it.
 */
export function embeddingBytes(file: EmbeddingFile, maxTokens: number): number {
  const isEncoder = whyUnserved(file.architecture) !== undefined;
  if (isEncoder) return file.fileBytes;
  const cells = Math.max(maxTokens, ROWS_AT_ONCE);
  const rows = file.readsLast ? ROWS_AT_ONCE : cells;
  return file.fileBytes + cells * kvBytesPerToken(file, "f16") + 2 * rows * file.vocabulary * 4;
}
