// Texts as vectors, and documents by their relevance to a query.

import type { ModelInfo } from "./model.ts";
import type { ServedBy } from "./upstream.ts";

/** A text, or the token ids of a whole input, special tokens included. */
export type EmbeddingInput = string | readonly number[];

export interface EmbedWork {
  readonly kind: "embed";
  readonly inputs: readonly EmbeddingInput[];
  /** Numbers of each vector that are wanted; an engine may give more, to be cut. */
  readonly dimensions?: number;
  /** Fields under their names on the wire that only some other servers honour; refused by name wherever else it is computed. */
  readonly foreign?: Readonly<Record<string, unknown>>;
}

export type EmbeddingWork =
  EmbedWork | { readonly kind: "rank"; readonly query: string; readonly documents: readonly string[] };

/** What an embedding engine is for: vectors, or scores of pairs. */
export type EmbeddingKind = EmbeddingWork["kind"];

export interface EmbeddingResult {
  /**
   * A vector for each input, or one score for each document, one after the other. Vectors computed here have length 1,
   * those of other servers are as these gave them.
   */
  readonly values: Float32Array | Float64Array;
  /** Numbers for each input. */
  readonly dimensions: number;
  /** Tokens that were computed. */
  readonly tokens: number;
  /** Inputs that were longer than the model takes and were cut. */
  readonly truncated: number;
  /** Of a model on another server. */
  readonly servedBy?: ServedBy;
}

/** What loading a model tells about it. */
export interface EmbeddingModel extends Pick<
  ModelInfo,
  "architecture" | "description" | "parameters" | "bytes" | "device"
> {
  readonly dimensions: number;
}
