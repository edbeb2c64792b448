// The metrics of text engines under the names of llama.cpp's server, for dashboards made for that server.

import { by, counter, exposition, gauge, type Labels, type Metric, type MetricTable } from "./exposition.ts";

/** Returns the text exposition of llama.cpp's metrics, computed from svc's metrics in `tables`. */
export function llamaMetrics(tables: readonly MetricTable[]): string {
  const own = tables.filter(({ labels }) => labels["engine"] === undefined || labels["engine"] === "text");
  const families = Map.groupBy(
    own.flatMap(({ metrics }) => metrics),
    ({ name }) => name,
  );
  const all = (name: string) => families.get(name) ?? [];
  const sum = (name: string) => all(name).reduce((total, metric) => total + sumOf(metric), 0);
  const count = (name: string) => all(name).reduce((total, metric) => total + countOf(metric), 0);
  const samples = (name: string) => all(name).flatMap(samplesOf);
  const cached = sum("svc_prompt_tokens_cached_total");
  const promptTokens = sum("svc_prompt_tokens_total") - cached;
  const promptSeconds = sum("svc_request_prefill_time_seconds");
  const predicted = sum("svc_generation_tokens_total");
  const predictedSeconds = sum("svc_request_decode_time_seconds");
  const rate = (tokens: number, seconds: number) => (seconds > 0 ? tokens / seconds : 0);
  const steps = count("svc_engine_step_duration_seconds");
  const metrics: Metric[] = [
    counter("prompt_tokens_total", "Prompt tokens computed.", promptTokens),
    counter("prompt_tokens_cached_total", "Prompt tokens that were in the KV cache.", cached),
    counter("prompt_seconds_total", "Time spent on prompts in seconds.", promptSeconds),
    counter("tokens_predicted_total", "Generated tokens.", predicted),
    counter("tokens_predicted_seconds_total", "Time spent on generation in seconds.", predictedSeconds),
    counter(
      "n_tokens_max",
      "Highest number of tokens of a request, prompt and answer together.",
      Math.max(0, ...samples("svc_request_tokens_max").map(([, value]) => value)),
    ),
    counter("n_decode_total", "Decode calls.", steps),
    gauge(
      "n_busy_slots_per_decode",
      "Rows of streams per decode call.",
      rate(rowsOf(samples("svc_engine_step_rows_total")), steps),
    ),
    gauge("prompt_tokens_seconds", "Prompt tokens per second.", rate(promptTokens, promptSeconds)),
    gauge("predicted_tokens_seconds", "Generated tokens per second.", rate(predicted, predictedSeconds)),
    gauge("requests_processing", "Requests that are being computed.", sum("svc_num_requests_running")),
    gauge("requests_deferred", "Requests that are waiting.", sum("svc_num_requests_waiting")),
    counter("spec_decode_num_drafts_total", "Drafts.", sum("svc_spec_decode_num_drafts_total")),
    counter("spec_decode_num_draft_tokens_total", "Draft tokens.", sum("svc_spec_decode_num_draft_tokens_total")),
    counter(
      "spec_decode_num_accepted_tokens_total",
      "Draft tokens that were accepted.",
      sum("svc_spec_decode_num_accepted_tokens_total"),
    ),
    by(
      "counter",
      "spec_decode_num_accepted_tokens_per_pos_total",
      "Draft tokens that were accepted, by their position in the draft, from 0.",
      "position",
      byPosition(samples("svc_spec_decode_num_accepted_tokens_per_pos_total")),
    ),
  ];
  const named = metrics.map((metric) => ({ ...metric, name: `llamacpp:${metric.name}` }));
  return exposition([{ labels: {}, metrics: named }]);
}

const sumOf = (metric: Metric): number =>
  metric.type === "histogram"
    ? metric.samples.reduce((total, [, buckets]) => total + buckets.sum, 0)
    : metric.samples.reduce((total, [, value]) => total + value, 0);

const countOf = (metric: Metric): number =>
  metric.type === "histogram"
    ? metric.samples.reduce((total, [, { counts }]) => total + counts.reduce((all, one) => all + one, 0), 0)
    : 0;

type Sample = readonly [Labels, number];

const samplesOf = (metric: Metric): readonly Sample[] => (metric.type === "histogram" ? [] : metric.samples);

/** Returns the rows of running streams: each row is a busy slot. */
const rowsOf = (samples: readonly Sample[]): number =>
  samples.reduce((total, [labels, value]) => total + (labels["kind"] === "decode" ? value : 0), 0);

/** Returns the sums by position over all sources of drafts. */
function byPosition(samples: readonly Sample[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [{ position = "" }, value] of samples) sums.set(position, (sums.get(position) ?? 0) + value);
  return sums;
}
