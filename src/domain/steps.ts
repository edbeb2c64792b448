// Counts of decode calls by what they computed: kept by the engine, summed over engine processes, exported as metrics.

import { addSpeculation, noSpeculation, type SpeculationCounts } from "./speculation.ts";

/** `mixed`: tokens of running streams and of prompts in one call. */
export const STEP_KINDS = ["decode", "prefill", "mixed", "media"] as const;
export type StepKind = (typeof STEP_KINDS)[number];

/** The kinds that include prompt tokens. */
export const CHUNK_KINDS = ["prefill", "mixed"] as const;

/** What a running stream waited for between two tokens: only its own step, or also prompts or media of others. */
export const PAUSE_CAUSES = ["decode", "prompt", "media"] as const;
type PauseCause = (typeof PAUSE_CAUSES)[number];

/** Upper bounds of the duration buckets; one more bucket counts longer durations. */
export const STEP_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Upper bounds of the buckets for prompt tokens in a call. */
export const CHUNK_TOKENS = [1, 4, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096];

/** A histogram: how many values each bucket has, and the sum of all values. */
interface Distribution {
  readonly counts: number[];
  sum: number;
}

export interface StepCounts {
  /** Duration of calls in seconds. */
  readonly durations: Readonly<Record<StepKind, Distribution>>;
  /** Prompt tokens per call, for calls with prompt tokens. */
  readonly chunks: Readonly<Record<(typeof CHUNK_KINDS)[number], Distribution>>;
  /** Seconds between two steps of a running stream, counted for each stream. */
  readonly pauses: Readonly<Record<PauseCause, Distribution>>;
  /** Tokens computed: of running streams, of prompt text, of media. */
  readonly rows: Record<"decode" | "prefill" | "media", number>;
  readonly speculation: SpeculationCounts;
}

export function noSteps(): StepCounts {
  const over = (bounds: readonly number[]): Distribution => ({ counts: [...bounds, 0].map(() => 0), sum: 0 });
  const seconds = () => over(STEP_SECONDS);
  return {
    durations: { decode: seconds(), prefill: seconds(), mixed: seconds(), media: seconds() },
    chunks: { prefill: over(CHUNK_TOKENS), mixed: over(CHUNK_TOKENS) },
    pauses: { decode: seconds(), prompt: seconds(), media: seconds() },
    rows: { decode: 0, prefill: 0, media: 0 },
    speculation: noSpeculation(),
  };
}

/** Counts one call. */
export function countStep({ durations }: StepCounts, kind: StepKind, seconds: number): void {
  count(durations[kind], STEP_SECONDS, seconds);
}

/** Counts the prompt tokens of a call that has prompt tokens. */
export function countChunk({ chunks }: StepCounts, kind: (typeof CHUNK_KINDS)[number], tokens: number): void {
  count(chunks[kind], CHUNK_TOKENS, tokens);
}

/** Counts a pause of one stream. */
export function countPause({ pauses }: StepCounts, cause: PauseCause, seconds: number): void {
  count(pauses[cause], STEP_SECONDS, seconds);
}

function count(into: Distribution, bounds: readonly number[], value: number): void {
  const found = bounds.findIndex((bound) => value <= bound);
  const bucket = found < 0 ? bounds.length : found;
  into.counts[bucket] = (into.counts[bucket] ?? 0) + 1;
  into.sum += value;
}

/** Adds `more` to `counts`. */
export function addSteps(counts: StepCounts, more: StepCounts): void {
  for (const kind of STEP_KINDS) add(counts.durations[kind], more.durations[kind]);
  for (const kind of CHUNK_KINDS) add(counts.chunks[kind], more.chunks[kind]);
  for (const cause of PAUSE_CAUSES) add(counts.pauses[cause], more.pauses[cause]);
  for (const kind of ["decode", "prefill", "media"] as const) counts.rows[kind] += more.rows[kind];
  addSpeculation(counts.speculation, more.speculation);
}

function add(into: Distribution, from: Distribution): void {
  from.counts.forEach((times, bucket) => (into.counts[bucket] = (into.counts[bucket] ?? 0) + times));
  into.sum += from.sum;
}
