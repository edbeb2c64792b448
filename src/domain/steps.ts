// Counts of decode calls by what they computed: kept by the engine, added up over engine processes, told as metrics.

import { addGuesses, noGuesses, type GuessTally } from "./speculation.ts";

/** `mixed`: tokens of running streams and of prompts in one call. */
export const STEP_KINDS = ["decode", "prefill", "mixed", "media"] as const;
export type StepKind = (typeof STEP_KINDS)[number];

/** Kinds with tokens of prompts in them. */
export const CHUNK_KINDS = ["prefill", "mixed"] as const;

/** What a running stream waited for between two of its tokens: its own step alone, or others' prompts or media as well. */
export const PAUSE_CAUSES = ["decode", "prompt", "media"] as const;
export type PauseCause = (typeof PAUSE_CAUSES)[number];

/** Upper bounds of the duration buckets; one more counts what is longer. */
export const STEP_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** The same of the sizes of prompt chunks. */
export const CHUNK_TOKENS = [1, 4, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096];

/** Values in buckets; none is in two. */
export interface Distribution {
  readonly counts: number[];
  sum: number;
}

export interface StepTally {
  /** Seconds of calls. */
  readonly durations: Readonly<Record<StepKind, Distribution>>;
  /** Prompt tokens in calls that have any. */
  readonly chunks: Readonly<Record<(typeof CHUNK_KINDS)[number], Distribution>>;
  /** Seconds between two steps of a running stream, for each stream. */
  readonly pauses: Readonly<Record<PauseCause, Distribution>>;
  /** Tokens computed: of running streams, of prompts' text, of media. */
  readonly rows: Record<"decode" | "prefill" | "media", number>;
  readonly guesses: GuessTally;
}

export function noSteps(): StepTally {
  const over = (bounds: readonly number[]): Distribution => ({ counts: [...bounds, 0].map(() => 0), sum: 0 });
  const seconds = () => over(STEP_SECONDS);
  return {
    durations: { decode: seconds(), prefill: seconds(), mixed: seconds(), media: seconds() },
    chunks: { prefill: over(CHUNK_TOKENS), mixed: over(CHUNK_TOKENS) },
    pauses: { decode: seconds(), prompt: seconds(), media: seconds() },
    rows: { decode: 0, prefill: 0, media: 0 },
    guesses: noGuesses(),
  };
}

/** Counts one call. */
export function countStep({ durations }: StepTally, kind: StepKind, seconds: number): void {
  count(durations[kind], STEP_SECONDS, seconds);
}

/** Counts the prompt tokens of a call that has some. */
export function countChunk({ chunks }: StepTally, kind: (typeof CHUNK_KINDS)[number], tokens: number): void {
  count(chunks[kind], CHUNK_TOKENS, tokens);
}

/** Counts a pause of one stream. */
export function countPause({ pauses }: StepTally, cause: PauseCause, seconds: number): void {
  count(pauses[cause], STEP_SECONDS, seconds);
}

function count(into: Distribution, bounds: readonly number[], value: number): void {
  const found = bounds.findIndex((bound) => value <= bound);
  const bucket = found < 0 ? bounds.length : found;
  into.counts[bucket] = (into.counts[bucket] ?? 0) + 1;
  into.sum += value;
}

/** Adds `more` to `tally`. */
export function addSteps(tally: StepTally, more: StepTally): void {
  for (const kind of STEP_KINDS) add(tally.durations[kind], more.durations[kind]);
  for (const kind of CHUNK_KINDS) add(tally.chunks[kind], more.chunks[kind]);
  for (const cause of PAUSE_CAUSES) add(tally.pauses[cause], more.pauses[cause]);
  for (const kind of ["decode", "prefill", "media"] as const) tally.rows[kind] += more.rows[kind];
  addGuesses(tally.guesses, more.guesses);
}

function add(into: Distribution, from: Distribution): void {
  from.counts.forEach((times, bucket) => (into.counts[bucket] = (into.counts[bucket] ?? 0) + times));
  into.sum += from.sum;
}
