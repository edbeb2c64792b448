// Requests and results for embeddings (texts as vectors) and reranking (documents by relevance to a query).

import { fieldError } from "./errors.ts";
import type { ModelInfo } from "./model.ts";
import { TurnLimit } from "./turn-limit.ts";
import type { ServedBy } from "./upstream.ts";

/** A text, or the token ids of a whole input, special tokens included. */
export type EmbeddingInput = string | readonly number[];

interface Strictness {
  /** The field whose texts are refused when they are too long; absent: they are truncated. */
  readonly refuseLong?: string;
}

export interface EmbedWork extends Strictness {
  readonly kind: "embed";
  readonly inputs: readonly EmbeddingInput[];
  /** Requested length of each vector; an engine may return longer ones, which the caller truncates. */
  readonly dimensions?: number;
  /** Wire fields, by name, that only some upstreams support; anything else that computes the work refuses them. */
  readonly foreign?: Readonly<Record<string, unknown>>;
}

export interface RankWork extends Strictness {
  readonly kind: "rank";
  readonly query: string;
  readonly documents: readonly string[];
}

export type EmbeddingWork = EmbedWork | RankWork;

/** What an embedding engine computes: vectors, or scores of query and document pairs. */
export type EmbeddingKind = EmbeddingWork["kind"];

export interface EmbeddingResult {
  /**
   * One vector per input, or one score per document, one after the other. Vectors computed here have Euclidean length
   * 1; vectors of upstreams are unchanged.
   */
  readonly values: Float32Array | Float64Array;
  /** Set if scores are probabilities; those of other models are logits. */
  readonly probabilities?: true;
  /** How many numbers belong to each input. */
  readonly dimensions: number;
  /** Tokens computed. */
  readonly tokens: number;
  /** How many inputs were truncated because they were too long for the model. */
  readonly truncated: number;
  /** Set if an upstream computed the result. */
  readonly servedBy?: ServedBy;
}

/** Numbers of vectors that are handled before other work gets a turn. */
const NUMBERS_IN_A_TURN = 2 ** 17;

/** Emits the vector of each input, with turns for other work between them: there may be millions of numbers. */
export async function* vectorsOf({ values, dimensions }: EmbeddingResult): AsyncGenerator<EmbeddingResult["values"]> {
  const turns = new TurnLimit(NUMBERS_IN_A_TURN);
  for (let at = 0; at < values.length; at += dimensions) {
    await turns.enter(dimensions);
    yield values.subarray(at, at + dimensions);
  }
}

/** What is known of a model once it is loaded. */
export interface EmbeddingModel extends Pick<
  ModelInfo,
  "architecture" | "description" | "parameters" | "bytes" | "device"
> {
  readonly dimensions: number;
}

/** Throws SvcError `context_length_exceeded` when a text must not be truncated. `at`: index of the first too long one. */
export function refuseTooLong({ kind, refuseLong }: EmbeddingWork, most: number, at: number): void {
  if (refuseLong === undefined || at < 0) return;
  const limit = `${most} tokens${kind === "rank" ? " together with the query" : ""}`;
  const sentence = `must have texts of at most ${limit} for this model; number ${at}, counted from 0, is longer`;
  throw fieldError("context_length_exceeded", refuseLong, sentence);
}

/** Most numbers in the vectors of one request: 128 MB while the answer is written. */
const MOST_NUMBERS = 2 ** 24;

/** Throws SvcError `invalid_value` about more inputs than one answer can hold vectors for. */
export function refuseTooMany(inputs: number, dimensions: number): void {
  const most = Math.floor(MOST_NUMBERS / dimensions);
  if (inputs <= most) return;
  const sentence = `must have at most ${most} texts for this model, whose vectors have ${dimensions} numbers; got ${inputs}`;
  throw fieldError("invalid_value", "input", sentence);
}
