// What a step is to compute, and what came of it.

import type { AdapterSet } from "../domain/adapters.ts";
import type { GuessSource } from "../domain/speculation.ts";
import type { MediaSpan } from "./media-span.ts";
import type { Key, Sequence } from "./sequence.ts";

/** One row of a decode batch. */
export interface PlanRow {
  readonly key: Key;
  readonly sequence: number;
  readonly token: number;
  /** Of the token among the request's. */
  readonly index: number;
  /** Of the token in the KV cache. */
  readonly position: number;
  /** The row's logits are wanted: its sampled token goes to `apply`. */
  readonly sample: boolean;
  /** Who guessed that the row before gives this token; absent: it is known. */
  readonly guess?: GuessSource;
}

export interface StepPlan {
  /** Sorted by sequence id, as the stream KV layout wants them. */
  readonly rows: readonly PlanRow[];
  /** What computes all of them beside the model. */
  readonly adapters: AdapterSet;
  /** Requests whose first rows are in this plan. */
  readonly started: readonly Key[];
  /** The request that fills the batch alone, if one does: its cancellation may abort the step. */
  readonly owner: Key | undefined;
  readonly decodeRows: number;
  readonly prefillRows: number;
  readonly guessRows: number;
  /** Decode steps on end, each with the tokens of the one before. More than one only when every row is a stream's. */
  readonly steps: number;
}

/** Some time of computing prompts beside streams: a chunk of them is computed in slices, with the streams' steps between. */
export interface SlicePlan {
  /** The whole chunk; no row of it is sampled. */
  readonly chunk: StepPlan;
  /** It is the chunk's first slice. */
  readonly begins: boolean;
  readonly ms: number;
}

/** One piece of a medium, for a decode call of its own. */
export interface MediaStep {
  readonly key: Key;
  readonly sequence: number;
  readonly adapters: AdapterSet;
  readonly span: MediaSpan;
  /** Embeddings of the span, from `offset` on. */
  readonly offset: number;
  readonly count: number;
  /** Position of the span's first token. */
  readonly position: number;
  /** Nothing of this request was computed before. */
  readonly starts: boolean;
}

export interface Sampled {
  readonly key: Key;
  readonly token: number;
  /** Another token of the request follows in this step. */
  readonly more: boolean;
  /** The request's token limit is reached: this token is its last. */
  readonly last: boolean;
}

/** Decode steps of a plan that were made; `tokens`: what they sampled, as `Scheduler.apply` takes it. */
export function stepsMade({ steps, rows }: StepPlan, tokens: ArrayLike<number>): number {
  let made = 1;
  while (made < steps && tokens[made * rows.length] !== -1) made++;
  return made;
}

/** The request whose rows are all there are. */
export function ownerOf(rows: readonly PlanRow[]): Key | undefined {
  const first = rows[0]?.key;
  return rows.every(({ key }) => key === first) ? first : undefined;
}

/** In the order of a plan. */
export const byPlace = (a: PlanRow, b: PlanRow): number => a.sequence - b.sequence || a.position - b.position;

/** The row that computes the token at `index`. */
export function rowOf(sequence: Sequence, index: number): PlanRow {
  return {
    key: sequence.key,
    sequence: sequence.id,
    token: sequence.ids[index] as number,
    index,
    position: sequence.position(index),
    sample: index === sequence.length - 1,
  };
}
