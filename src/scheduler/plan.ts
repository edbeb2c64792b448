// What a step computes, and what it sampled.

import type { AdapterSet } from "../domain/adapters.ts";
import type { SpeculationSource } from "../domain/speculation.ts";
import type { MediaSpan } from "./media-span.ts";
import type { Key, Sequence } from "./sequence.ts";

/**
 * How long the text of so many streams is held at most, and how long multi-step decoding takes: messages are then sent once
 * for several steps. On few cores, sending a message slows the computation down, and from four streams on that is felt. They
 * get text sixty times a second, as often as screens show it; fewer streams get it token by token unless tokens are fast.
 */
export const multiStepMs = (streams: number, stallBudgetMs: number): number =>
  Math.min(streams < 4 ? 4 : 16, stallBudgetMs);

/** One row of a decode batch. */
export interface PlanRow {
  readonly key: Key;
  readonly sequence: number;
  readonly token: number;
  /** Index of the token in the request. */
  readonly index: number;
  /** Position of the token in the KV cache. */
  readonly position: number;
  /** The row's logits are wanted: its sampled token goes to `apply`. */
  readonly sample: boolean;
  /** The log probability of the prompt's next token is wanted. */
  readonly score?: true;
  /** Where a speculative token comes from; absent: the token is known. */
  readonly speculative?: SpeculationSource;
}

export interface StepPlan {
  /** Sorted by sequence id, as the stream KV layout wants them. */
  readonly rows: readonly PlanRow[];
  /** LoRA adapters that compute all of them. */
  readonly adapters: AdapterSet;
  /** Requests whose first computation this is. */
  readonly started: readonly Key[];
  /** The only request in the batch, if there is just one: its cancellation may abort the step. */
  readonly owner: Key | undefined;
  readonly decodeRows: number;
  readonly prefillRows: number;
  readonly speculativeRows: number;
  /** Decode steps, each with the tokens that the one before sampled. More than one (multi-step decoding) only for streams. */
  readonly steps: number;
}

/** A slice of a chunk of prompts: it is computed for some time, then the streams have their step. */
export interface SlicePlan {
  /** The whole chunk; no row of it is sampled. */
  readonly chunk: StepPlan;
  /** This is the chunk's first slice. */
  readonly begins: boolean;
  readonly ms: number;
}

/** A piece of a medium, for a decode call of its own. */
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
  /** This is the request's first computation. */
  readonly starts: boolean;
}

export interface Sampled {
  readonly key: Key;
  readonly token: number;
  /** This step sampled another token of the request, which follows. */
  readonly more: boolean;
  /** The request's token limit is reached: this token is its last. */
  readonly last: boolean;
}

/** How many decode steps of a plan were made; `tokens`: what they sampled, as `Scheduler.apply` takes it. */
export function stepsMade({ steps, rows }: StepPlan, tokens: ArrayLike<number>): number {
  let made = 1;
  while (made < steps && tokens[made * rows.length] !== -1) made++;
  return made;
}

/** The only request that has rows, if there is just one. */
export function ownerOf(rows: readonly PlanRow[]): Key | undefined {
  const first = rows[0]?.key;
  return rows.every(({ key }) => key === first) ? first : undefined;
}

/** Orders rows as a plan has them. */
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
    ...(sequence.scored && sequence.dropped === 0 && index < sequence.promptLength - 1 && { score: true as const }),
  };
}
