// What the engine's steps look like to a scrape.

import { STEP_KINDS, STEP_SECONDS, type StepTally } from "../domain/steps.ts";
import { family, histogram, type Labels } from "./exposition.ts";

/** The families of the engine's steps; counts are a second old at most. */
export function stepFamilies({ durations, rows }: StepTally, labels: Labels): string[] {
  return [
    histogram(
      "svc_engine_step_duration_seconds",
      "Decode calls by what they computed, sampling included.",
      STEP_SECONDS,
      STEP_KINDS.map((kind) => [
        { ...labels, kind },
        { counts: durations[kind].counts, sum: durations[kind].seconds },
      ]),
    ),
    family(
      "counter",
      "svc_engine_step_rows_total",
      "Tokens in decode calls: of running streams, of prompts, of media.",
      Object.entries(rows).map(([kind, count]) => [{ ...labels, kind }, count]),
    ),
  ];
}
