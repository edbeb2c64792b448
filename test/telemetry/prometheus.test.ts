import { describe, expect, test } from "bun:test";
import { countDraft } from "../../src/domain/speculation.ts";
import { addSteps, countChunk, countPause, countStep, noSteps } from "../../src/domain/steps.ts";
import type { Usage } from "../../src/domain/usage.ts";
import type { MetricLevels } from "../../src/telemetry/metrics.ts";
import { PrometheusMetrics } from "../../src/telemetry/prometheus.ts";
import { parseExposition } from "../support/exposition.ts";

const levels: MetricLevels = {
  version: "1.2.3",
  modelName: "tiny",
  running: 2,
  waiting: 3,
  waitingFor: { sequence: 1, cells: 0, prefix: 2, turn: 0, step: 0 },
  parallel: 4,
  kvUsed: 256,
  kvTotal: 1024,
  preemptions: 3,
  kvCached: 128,
  evictedTokens: 64,
  kvSaved: 512,
  spilledTokens: 96,
  kvDisk: 4096,
  restoredTokens: 32,
  diskWrittenTokens: 8192,
  diskRestoredTokens: 2048,
  diskFailedTokens: 16,
  engineSteps: 50,
  engineRestarts: 1,
  engineUp: true,
  engineResidentBytes: 1000,
  registered: 2,
  residentBytes: 2000,
  cpuSeconds: 1.5,
  steps: noSteps(),
  jobs: {
    batches: new Map([
      ["in_progress", 2],
      ["completed", 0],
    ]),
    linesWaiting: 7,
    files: new Map([["batch", { count: 3, bytes: 4096 }]]),
  },
};
const usage: Usage = {
  promptTokens: 100,
  cachedTokens: 40,
  completionTokens: 20,
  reasoningTokens: 0,
  queueMs: 10,
  promptMs: 200,
  completionMs: 1000,
  peakMemoryBytes: 0,
};

function start() {
  const time = { ms: 0 };
  const metrics = new PrometheusMetrics({ now: () => time.ms, wall: () => 1_700_000_000_000 + time.ms });
  const scrape = (changes: Partial<MetricLevels> = {}) => parseExposition(metrics.render({ ...levels, ...changes }));
  /** The value of a sample; labels beyond the model's name may be given. */
  const read = (name: string, labels: Record<string, string> = {}, changes: Partial<MetricLevels> = {}) =>
    [...scrape(changes).values()]
      .flatMap((family) => family.samples)
      .find((sample) => sample.name === name && Object.entries(labels).every(([key, v]) => sample.labels[key] === v))
      ?.value;
  return { time, metrics, scrape, read };
}

describe("the exposition", () => {
  test("is well formed, before and after requests, and has vLLM's names behind our prefix", () => {
    const { metrics, scrape } = start();
    const names = [...scrape().keys()];
    metrics.connectionOpened();
    metrics.generationStarted();
    metrics.firstToken(120);
    metrics.interToken(15);
    metrics.generationFinished("stop", usage, 1300);
    metrics.generationFailed("engine_crashed", 50);
    metrics.rejected("queue_full");
    metrics.requestEnded("/v1/models", 200);
    metrics.batchLineEnded("completed");
    expect([...scrape().keys()]).toEqual(names);
    expect(names.every((name) => name.startsWith("svc_"))).toBe(true);
    for (const suffix of [
      "num_requests_running",
      "num_requests_waiting",
      "kv_cache_usage_perc",
      "num_preemptions_total",
      "prompt_tokens_total",
      "generation_tokens_total",
      "request_success_total",
      "time_to_first_token_seconds",
      "inter_token_latency_seconds",
      "e2e_request_latency_seconds",
      "request_queue_time_seconds",
      "request_prefill_time_seconds",
      "request_decode_time_seconds",
      "request_time_per_output_token_seconds",
      "engine_step_duration_seconds",
      "engine_step_rows_total",
      "prefill_chunk_tokens",
      "stream_pause_seconds",
      "num_requests_waiting_by_reason",
      "kv_cache_spilled_tokens_total",
      "http_requests_total",
      "build_info",
      "process_cpu_seconds_total",
      "request_inference_time_seconds",
      "request_prompt_tokens",
      "request_generation_tokens",
      "num_active_connections",
      "process_start_time_seconds",
      "batches",
      "batch_lines_waiting",
      "batch_lines_total",
      "stored_files",
      "stored_file_bytes",
    ]) {
      expect(names).toContain(`svc_${suffix}`);
    }
  });

  test("names the model on everything but what belongs to the process", () => {
    const { scrape } = start();
    const modelName = 'odd "name" \\ with\nnewline';
    for (const [name, { samples }] of scrape({ modelName })) {
      const process = /process|connections|http|build|svc_batch|svc_stored/.test(name);
      for (const { labels } of samples) expect(labels["model_name"]).toBe(process ? undefined : modelName);
    }
  });
});

describe("what is measured", () => {
  test("levels are those of the moment", () => {
    const { read, metrics } = start();
    metrics.connectionOpened();
    metrics.connectionOpened();
    metrics.connectionClosed();
    expect(read("svc_num_requests_running")).toBe(2);
    expect(read("svc_num_requests_waiting_by_reason", { reason: "prefix" })).toBe(2);
    expect(read("svc_num_requests_waiting_by_reason", { reason: "turn" })).toBe(0);
    expect(read("svc_kv_cache_usage_perc")).toBe(0.25);
    expect(read("svc_kv_cache_usage_perc", {}, { kvTotal: 0, kvUsed: 0 })).toBe(0);
    expect(read("svc_engine_up", {}, { engineUp: false })).toBe(0);
    expect(read("svc_num_active_connections")).toBe(1);
    expect(read("svc_active_connections_peak")).toBe(2);
    expect(read("svc_process_start_time_seconds")).toBe(1_700_000_000);
  });

  test("a generation counts once, with its tokens and times in seconds", () => {
    const { read, metrics } = start();
    expect(read("svc_request_success_total", { finished_reason: "length" })).toBe(0);
    metrics.generationStarted();
    metrics.firstToken(210);
    metrics.interToken(50);
    metrics.generationFinished("length", usage, 1300);
    expect(read("svc_requests_started_total")).toBe(1);
    expect(read("svc_request_success_total", { finished_reason: "length" })).toBe(1);
    expect(read("svc_prompt_tokens_total")).toBe(100);
    expect(read("svc_prompt_tokens_cached_total")).toBe(40);
    expect(read("svc_generation_tokens_total")).toBe(20);
    expect(read("svc_time_to_first_token_seconds_sum")).toBe(0.21);
    expect(read("svc_time_to_first_token_seconds_bucket", { le: "0.1" })).toBe(0);
    expect(read("svc_time_to_first_token_seconds_bucket", { le: "0.25" })).toBe(1);
    expect(read("svc_request_inference_time_seconds_sum")).toBe(1.2);
    expect(read("svc_e2e_request_latency_seconds_sum")).toBe(1.3);
    expect(read("svc_request_time_per_output_token_seconds_sum")).toBeCloseTo(1 / 19);
    expect(read("svc_request_prompt_tokens_bucket", { le: "100" })).toBe(1);
  });

  test("a value on a bound belongs to the bucket, one beyond all only to the infinite one", () => {
    const { read, metrics } = start();
    metrics.firstToken(250);
    metrics.firstToken(1e9);
    expect(read("svc_time_to_first_token_seconds_bucket", { le: "0.25" })).toBe(1);
    expect(read("svc_time_to_first_token_seconds_bucket", { le: "+Inf" })).toBe(2);
  });

  test("requests count by route and status", () => {
    const { read, metrics } = start();
    for (const status of [200, 200, 400]) metrics.requestEnded("/v1/chat/completions", status);
    metrics.requestEnded("unknown", 404);
    expect(read("svc_http_requests_total", { route: "/v1/chat/completions", status: "200" })).toBe(2);
    expect(read("svc_http_requests_total", { route: "/v1/chat/completions", status: "400" })).toBe(1);
    expect(read("svc_http_requests_total", { route: "unknown" })).toBe(1);
  });

  test("steps count by kind, added up over engine processes", () => {
    const { read } = start();
    const [steps, more] = [noSteps(), noSteps()];
    countStep(steps, "decode", 0.02);
    countStep(more, "decode", 0.025);
    countStep(more, "decode", 1000);
    countStep(more, "mixed", 0.3);
    more.rows.prefill = 7;
    countChunk(more, "mixed", 16);
    for (let stream = 0; stream < 4; stream++) countPause(more, "prompt", 0.3);
    addSteps(steps, more);
    addSteps(steps, more);
    const now = { steps };
    const bucket = (kind: string, le: string) => read("svc_engine_step_duration_seconds_bucket", { kind, le }, now);
    expect([bucket("decode", "0.01"), bucket("decode", "0.025"), bucket("decode", "10")]).toEqual([0, 3, 3]);
    expect([bucket("decode", "+Inf"), bucket("mixed", "+Inf"), bucket("media", "+Inf")]).toEqual([5, 2, 0]);
    expect(read("svc_engine_step_duration_seconds_sum", { kind: "mixed" }, now)).toBe(0.6);
    expect(read("svc_engine_step_rows_total", { kind: "prefill" }, now)).toBe(14);
    expect(read("svc_prefill_chunk_tokens_bucket", { kind: "mixed", le: "16" }, now)).toBe(2);
    expect(read("svc_prefill_chunk_tokens_bucket", { kind: "mixed", le: "4" }, now)).toBe(0);
    expect(read("svc_stream_pause_seconds_count", { cause: "prompt" }, now)).toBe(8);
    expect(read("svc_stream_pause_seconds_sum", { cause: "prompt" }, now)).toBeCloseTo(2.4);
  });

  test("speculative tokens count by their source and by their place, added up over engine processes", () => {
    const { read } = start();
    const [steps, more] = [noSteps(), noSteps()];
    countDraft(more.speculation, "draft", 4, 2);
    countDraft(more.speculation, "draft", 4, 0);
    countDraft(more.speculation, "ngram", 8, 8);
    addSteps(steps, more);
    addSteps(steps, more);
    const count = (name: string, labels: Record<string, string>) =>
      read(`svc_spec_decode_num_${name}_total`, labels, { steps });
    const of = (source: string) => ["drafts", "draft_tokens", "accepted_tokens"].map((name) => count(name, { source }));
    expect([of("draft"), of("ngram")]).toEqual([
      [4, 16, 4],
      [2, 16, 16],
    ]);
    const at = (position: string) => count("accepted_tokens_per_pos", { source: "draft", position });
    expect([at("0"), at("1"), at("2")]).toEqual([2, 2, undefined]);
  });

  test("batches and files are counted in the data folder, lines where they were put out", () => {
    const { read, scrape, metrics } = start();
    expect(read("svc_batches", { status: "in_progress" })).toBe(2);
    expect(read("svc_batches", { status: "completed" })).toBe(0);
    expect(read("svc_batch_lines_waiting")).toBe(7);
    expect(read("svc_stored_files", { purpose: "batch" })).toBe(3);
    expect(read("svc_stored_file_bytes", { purpose: "batch" })).toBe(4096);
    expect(read("svc_batch_lines_total", { outcome: "skipped" })).toBe(0);
    metrics.batchLineEnded("failed");
    metrics.batchLineEnded("failed");
    expect(read("svc_batch_lines_total", { outcome: "failed" })).toBe(2);
    expect(read("svc_batch_lines_total", { outcome: "completed" })).toBe(0);
    // What cannot be read has no value, rather than a wrong one.
    const unread = scrape({ jobs: undefined });
    expect(unread.get("svc_batches")?.samples).toEqual([]);
    expect(unread.get("svc_batch_lines_total")?.samples).toHaveLength(3);
  });

  test("failures and rejections count by themselves", () => {
    const { read, metrics } = start();
    metrics.generationFailed("engine_crashed", 50);
    metrics.generationFailed("engine_crashed", 50);
    metrics.rejected("queue_timeout");
    expect(read("svc_request_failure_total", { code: "engine_crashed" })).toBe(2);
    expect(read("svc_admission_rejections_total", { reason: "queue_timeout" })).toBe(1);
    expect(read("svc_admission_rejections_total", { reason: "queue_full" })).toBe(0);
  });

  test("a request that was cancelled before anything was computed has no computing times", () => {
    const { read, metrics } = start();
    metrics.generationFinished("cancelled", { ...usage, completionTokens: 0 }, 5);
    expect(read("svc_request_success_total", { finished_reason: "cancelled" })).toBe(1);
    expect(read("svc_request_prefill_time_seconds_count")).toBe(0);
    expect(read("svc_e2e_request_latency_seconds_count")).toBe(1);
  });

  test("throughput is over the last seconds and shows while a generation still runs", () => {
    const { read, metrics, time } = start();
    time.ms = 100_000;
    for (let token = 0; token < 400; token++) {
      time.ms += 25;
      metrics.interToken(25);
    }
    const rate = () => Number(read("svc_avg_generation_throughput_toks_per_s"));
    expect(rate()).toBeGreaterThan(35);
    expect(rate()).toBeLessThan(45);
    time.ms += 5000;
    expect(rate()).toBeLessThan(25);
    time.ms += 6000;
    expect(rate()).toBe(0);
  });
});
