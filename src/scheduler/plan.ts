// What a step computes, and what it sampled.

import type { AdapterSet } from "../domain/adapters.ts";
import { HELD_MS, MANY_STREAMS } from "../domain/held-text.ts";
import type { SpeculationSource } from "../domain/speculation.ts";
import type { MediaSpan } from "./media-span.ts";
import type { Key, Sequence } from "./sequence.ts";

/**
 * Returns how long the text of `streams` streams may be held and multi-step decoding may last, in milliseconds: one
 * message is then sent for several steps. On few cores, sending a message slows the computation down, noticeably from
 * four streams on. Fewer get text token by token unless tokens are fast.
 */
export const multiStepMs = (streams: number, stallBudgetMs: number): number =>
  Math.min(streams < MANY_STREAMS ? 4 : HELD_MS, stallBudgetMs);

/** One row of a decode batch. */
export interface PlanRow {
  readonly key: Key;
  readonly sequence: number;
  readonly token: number;
  /** Index of the token in the request. */
  readonly index: number;
  /** Position of the token in the KV cache. */
  readonly position: number;
  /** Whether the row's logits are needed: the token sampled from them goes to `Scheduler.apply`. */
  readonly sample: boolean;
  /** Set if the log probability of the prompt's next token is requested. */
  readonly score?: true;
  /** Where a speculative token comes from; absent: the token is not speculative. */
  readonly speculative?: SpeculationSource;
}

export interface StepPlan {
  /** Sorted by sequence id, as the stream KV layout requires, then by position. */
  readonly rows: readonly PlanRow[];
  /** Whether sequences that lie apart are computed as if they did not; see svc_decode. */
  readonly together: boolean;
  /** The LoRA adapters that compute all rows. */
  readonly adapters: AdapterSet;
  /** Requests whose first computation is in this step. */
  readonly started: readonly Key[];
  readonly decodeRows: number;
  readonly prefillRows: number;
  readonly speculativeRows: number;
  /** Decode steps, each computing the tokens that the last one sampled. More than one (multi-step) only for streams. */
  readonly steps: number;
}

/** A slice of a chunk of prompts: the chunk is computed for a limited time, then the streams have their step. */
export interface SlicePlan {
  /** The whole chunk; none of its rows is sampled. */
  readonly chunk: StepPlan;
  /** Whether this is the chunk's first slice. */
  readonly begins: boolean;
  readonly ms: number;
}

/** A piece of an image or sound, for a separate decode call. */
export interface MediaStep {
  readonly key: Key;
  readonly sequence: number;
  readonly adapters: AdapterSet;
  readonly span: MediaSpan;
  /** Index in the span of the first embedding to compute. */
  readonly offset: number;
  readonly count: number;
  /** Position of the span's first token in the KV cache. */
  readonly position: number;
  /** Whether this is the request's first computation. */
  readonly starts: boolean;
}

export interface Sampled {
  readonly key: Key;
  readonly token: number;
  /** Whether another token of the request follows that the same step sampled. */
  readonly more: boolean;
  /** Whether this token is the request's last, because its token limit is reached. */
  readonly last: boolean;
}

/** Returns how many decode steps of a plan were made; `tokens`: the sampled tokens, as `Scheduler.apply` takes them. */
export function stepsMade({ steps, rows }: StepPlan, tokens: ArrayLike<number>): number {
  let made = 1;
  while (made < steps && tokens[made * rows.length] !== -1) made++;
  return made;
}

/** Compares rows by their order in a plan. */
export const byPlace = (a: PlanRow, b: PlanRow): number => a.sequence - b.sequence || a.position - b.position;

/** Returns the row that computes the token at `index`. */
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
