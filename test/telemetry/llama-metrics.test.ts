import { expect, test } from "bun:test";
import { countDraft } from "../../src/domain/speculation.ts";
import { noSteps } from "../../src/domain/steps.ts";
import { TextStats } from "../../src/engine/text/stats.ts";
import { llamaMetrics } from "../../src/telemetry/llama-metrics.ts";
import { RequestCounts } from "../../src/telemetry/request-counts.ts";
import { parseExposition } from "../support/exposition.ts";
import { TestClock } from "../support/test-clock.ts";

/** The names in llama-server's README, and further ones that its tests read. */
const LLAMA_NAMES = [
  "prompt_tokens_total",
  "prompt_seconds_total",
  "prompt_tokens_seconds",
  "tokens_predicted_total",
  "tokens_predicted_seconds_total",
  "predicted_tokens_seconds",
  "requests_processing",
  "requests_deferred",
  "n_tokens_max",
  "n_decode_total",
  "n_busy_slots_per_decode",
  "spec_decode_num_draft_tokens_total",
  "spec_decode_num_accepted_tokens_total",
  "spec_decode_num_drafts_total",
  "spec_decode_num_accepted_tokens_per_pos_total",
  "prompt_tokens_cached_total",
];

test("all of llama-server's metrics exist, with tokens accepted from any draft counted by position", () => {
  const steps = noSteps();
  countDraft(steps.speculation, "ngram", 3, 2);
  countDraft(steps.speculation, "draft", 3, 1);
  const clock = new TestClock();
  const stats = new TextStats(clock);
  stats.update({ steps });
  const metrics = [...new RequestCounts(clock).metrics(), ...stats.metrics(4, 0)];
  const families = parseExposition(llamaMetrics([{ labels: {}, metrics }]));
  const names = [...families.keys()].map((name) => name.replace(/^llamacpp:/, ""));
  expect(names.toSorted()).toEqual(LLAMA_NAMES.toSorted());
  const accepted = families.get("llamacpp:spec_decode_num_accepted_tokens_per_pos_total")?.samples;
  expect(accepted?.map(({ labels, value }) => [labels["position"], value])).toEqual([
    ["0", 2],
    ["1", 1],
  ]);
});
