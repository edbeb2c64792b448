// Counts of decode calls by what they computed: kept by the engine, added up over engine processes, told as metrics.

import { addGuesses, noGuesses, type GuessTally } from "./guesses.ts";

/** `mixed`: tokens of running streams and of prompts in one call. */
export const STEP_KINDS = ["decode", "prefill", "mixed", "media"] as const;
export type StepKind = (typeof STEP_KINDS)[number];

/** Upper bounds of the duration buckets; one more counts what is longer. */
export const STEP_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface StepDurations {
  /** Calls in each bucket; none is in two. */
  readonly counts: number[];
  seconds: number;
}

export interface StepTally {
  readonly durations: Readonly<Record<StepKind, StepDurations>>;
  /** Tokens computed: of running streams, of prompts' text, of media. */
  readonly rows: Record<"decode" | "prefill" | "media", number>;
  readonly guesses: GuessTally;
}

export function noSteps(): StepTally {
  const durations = (): StepDurations => ({
    counts: Array.from({ length: STEP_SECONDS.length + 1 }, () => 0),
    seconds: 0,
  });
  return {
    durations: { decode: durations(), prefill: durations(), mixed: durations(), media: durations() },
    rows: { decode: 0, prefill: 0, media: 0 },
    guesses: noGuesses(),
  };
}

/** Counts one call. */
export function countStep({ durations }: StepTally, kind: StepKind, seconds: number): void {
  const { counts } = durations[kind];
  const found = STEP_SECONDS.findIndex((bound) => seconds <= bound);
  const bucket = found < 0 ? STEP_SECONDS.length : found;
  counts[bucket] = (counts[bucket] ?? 0) + 1;
  durations[kind].seconds += seconds;
}

/** Adds `more` to `tally`. */
export function addSteps(tally: StepTally, more: StepTally): void {
  for (const kind of STEP_KINDS) {
    const [into, from] = [tally.durations[kind], more.durations[kind]];
    from.counts.forEach((count, bucket) => (into.counts[bucket] = (into.counts[bucket] ?? 0) + count));
    into.seconds += from.seconds;
  }
  for (const kind of ["decode", "prefill", "media"] as const) tally.rows[kind] += more.rows[kind];
  addGuesses(tally.guesses, more.guesses);
}
