import { describe, expect, test } from "bun:test";
import { BUSY_REASONS } from "../../src/domain/errors.ts";
import { countDraft } from "../../src/domain/speculation.ts";
import { addSteps, countChunk, countPause, countStep, noSteps, type StepCounts } from "../../src/domain/steps.ts";
import { noUsage, type Usage } from "../../src/domain/usage.ts";
import type { ProcessStatus } from "../../src/domain/process-status.ts";
import { processMetrics } from "../../src/engine/process/status.ts";
import type { KvStats } from "../../src/engine/text/kv-stats.ts";
import { TextStats } from "../../src/engine/text/stats.ts";
import { subjectLabels, type MetricLevels } from "../../src/telemetry/metrics.ts";
import { PrometheusMetrics } from "../../src/telemetry/prometheus.ts";
import { parseExposition } from "../support/exposition.ts";

const status: ProcessStatus = { state: "ready", restarts: 14, running: 2, waiting: 3, residentBytes: 1000 };
const kv: KvStats = {
  used: 256,
  idle: 128,
  host: 512,
  disk: 4000,
  steps: 50,
  threads: 2,
  preempted: 8,
  evicted: 64,
  offloaded: 96,
  restored: 32,
  diskWritten: 8192,
  diskRestored: 2048,
  diskFailed: 16,
};
const waitingFor = { media: 10, sequence: 11, cells: 0, prefix: 12, turn: 0, step: 13 };
const levels: Omit<MetricLevels, "engines"> = {
  version: "1.2.3",
  registered: 9,
  sessions: 6,
  residentBytes: 2000,
  cpuSeconds: 1.5,
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
  completionMs: 1900,
  peakMemoryBytes: 0,
};

/** Changes that a scrape should find. */
interface Changes extends Partial<typeof levels>, Partial<Pick<ProcessStatus, "state" | "stalledSince">> {
  readonly kv?: Partial<KvStats>;
  readonly size?: number;
  readonly steps?: StepCounts;
}

function start(model = "tiny", names: "svc" | "llamacpp" = "svc") {
  // A monotonic clock does not begin with the server.
  const time = { ms: 123_456 };
  const clock = { now: () => time.ms, wall: () => 1_700_000_000_000 };
  const metrics = new PrometheusMetrics(clock, names);
  const subject = { kind: "text", model };
  const requests = metrics.of(subject);
  const scrape = ({
    state = "ready",
    stalledSince,
    size = 1024,
    kv: kvChanges,
    steps = noSteps(),
    ...changes
  }: Changes = {}) => {
    const stats = new TextStats(clock);
    stats.update({ levels: { running: 2, waiting: 3, waitingFor, kv: { ...kv, ...kvChanges } }, steps });
    const changed = { ...status, state, ...(stalledSince !== undefined && { stalledSince }) };
    const engine = [...processMetrics(changed), ...stats.metrics(4, size)];
    const engines = [{ labels: subjectLabels(subject), metrics: engine }];
    return parseExposition(metrics.render({ ...levels, engines, ...changes }));
  };
  /** Returns the value of a sample; labels other than the model's name may be given. */
  const read = (name: string, labels: Record<string, string> = {}, changes: Changes = {}) =>
    [...scrape(changes).values()]
      .flatMap((family) => family.samples)
      .find((sample) => sample.name === name && Object.entries(labels).every(([key, v]) => sample.labels[key] === v))
      ?.value;
  return { time, metrics, requests, scrape, read };
}

/** Reports one event of each kind. */
function tellOnce({ metrics, requests }: Pick<ReturnType<typeof start>, "metrics" | "requests">): void {
  for (let connection = 0; connection < 5; connection++) metrics.connectionOpened();
  metrics.connectionClosed();
  for (let request = 0; request < 6; request++) requests.started();
  requests.adapterChosen("poet");
  requests.firstToken(120);
  requests.interToken(15);
  requests.finished("stop", usage, 2500, { queueMs: 10, computingMs: 2200 });
  requests.failed("engine_crashed", 500);
  requests.rejected("queue_full");
  metrics.requestEnded("/v1/models", 200, "ada");
  metrics.batchLineEnded("completed");
}

/** Every sample except buckets, without its prefix and the model's name: its value after `tellOnce` with `levels`. */
const EVERYTHING = {
  num_requests_running: 2,
  num_requests_waiting: 3,
  "num_requests_waiting_by_reason media": 10,
  "num_requests_waiting_by_reason sequence": 11,
  "num_requests_waiting_by_reason cells": 0,
  "num_requests_waiting_by_reason prefix": 12,
  "num_requests_waiting_by_reason turn": 0,
  "num_requests_waiting_by_reason step": 13,
  max_concurrent_requests: 4,
  kv_cache_usage_perc: 0.25,
  kv_cache_size_tokens: 1024,
  kv_cache_used_tokens: 256,
  kv_cache_idle_tokens: 128,
  kv_host_cache_tokens: 512,
  kv_disk_tokens: 4000,
  cancel_registry_entries: 9,
  realtime_sessions: 6,
  engine_up: 1,
  engine_stalled: 0,
  engine_resident_memory_bytes: 1000,
  // Over ten seconds, of which the last has just begun.
  avg_prompt_throughput_toks_per_s: 60 / 9,
  avg_generation_throughput_toks_per_s: 2 / 9,
  prompt_tokens_total: 100,
  prompt_tokens_cached_total: 40,
  generation_tokens_total: 20,
  request_tokens_max: 120,
  requests_started_total: 6,
  "lora_requests_total poet": 1,
  "request_success_total stop": 1,
  "request_success_total length": 0,
  "request_success_total tool_calls": 0,
  "request_success_total cancelled": 0,
  "request_success_total content_filter": 0,
  "request_failure_total engine_crashed": 1,
  ...Object.fromEntries(BUSY_REASONS.map((reason) => [`admission_rejections_total ${reason}`, 0])),
  "admission_rejections_total queue_full": 1,
  num_preemptions_total: 8,
  kv_cache_evicted_tokens_total: 64,
  kv_cache_offloaded_tokens_total: 96,
  kv_cache_restored_tokens_total: 32,
  kv_disk_written_tokens_total: 8192,
  kv_disk_restored_tokens_total: 2048,
  kv_disk_failed_tokens_total: 16,
  engine_steps_total: 50,
  engine_restarts_total: 14,
  "http_requests_total /v1/models 200": 1,
  "api_key_requests_total ada 200": 1,
  "build_info 1.2.3": 1,
  num_active_connections: 4,
  num_compute_threads: 2,
  active_connections_peak: 5,
  process_resident_memory_bytes: 2000,
  process_cpu_seconds_total: 1.5,
  process_start_time_seconds: 1_700_000_000,
  ...histogram("time_to_first_token_seconds", 0.12),
  ...histogram("inter_token_latency_seconds", 0.015),
  ...histogram("request_queue_time_seconds", 0.01),
  ...histogram("request_prefill_time_seconds", 0.2),
  ...histogram("request_decode_time_seconds", 1.9),
  ...histogram("request_time_per_output_token_seconds", 0.1),
  ...histogram("request_inference_time_seconds", 2.1),
  ...histogram("e2e_request_latency_seconds", 3, 2),
  ...histogram("request_prompt_tokens", 100),
  ...histogram("request_generation_tokens", 20),
  ...histogram("engine_step_duration_seconds", 0.25, 1, " decode"),
  ...histogram("engine_step_duration_seconds", 0.5, 1, " prefill"),
  ...histogram("engine_step_duration_seconds", 0.75, 1, " mixed"),
  ...histogram("engine_step_duration_seconds", 1.5, 1, " media"),
  ...histogram("prefill_chunk_tokens", 48, 1, " prefill"),
  ...histogram("prefill_chunk_tokens", 12, 1, " mixed"),
  ...histogram("stream_pause_seconds", 0.125, 1, " decode"),
  ...histogram("stream_pause_seconds", 0.375, 1, " prompt"),
  ...histogram("stream_pause_seconds", 0.625, 1, " media"),
  "engine_step_rows_total decode": 71,
  "engine_step_rows_total prefill": 72,
  "engine_step_rows_total media": 73,
  "spec_decode_num_drafts_total ngram": 1,
  "spec_decode_num_drafts_total draft": 2,
  "spec_decode_num_draft_tokens_total ngram": 7,
  "spec_decode_num_draft_tokens_total draft": 8,
  "spec_decode_num_accepted_tokens_total ngram": 1,
  "spec_decode_num_accepted_tokens_total draft": 4,
  "spec_decode_num_accepted_tokens_per_pos_total ngram 0": 1,
  "spec_decode_num_accepted_tokens_per_pos_total draft 0": 2,
  "spec_decode_num_accepted_tokens_per_pos_total draft 1": 2,
  "batches in_progress": 2,
  "batches completed": 0,
  batch_lines_waiting: 7,
  "batch_lines_total completed": 1,
  "batch_lines_total failed": 0,
  "batch_lines_total skipped": 0,
  "stored_files batch": 3,
  "stored_file_bytes batch": 4096,
};

const SECONDS = [0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960];
const FIRST_TOKEN = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640,
];
const INTER_TOKEN = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
];
const TOKENS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000];
const STEP = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

function histogram(name: string, sum: number, count = 1, label = ""): Record<string, number> {
  return { [`${name}_sum${label}`]: sum, [`${name}_count${label}`]: count };
}

describe("the exposition", () => {
  test("is well formed, and has the same names before and after requests", () => {
    const { requests, metrics, scrape } = start();
    const names = [...scrape().keys()];
    tellOnce({ metrics, requests });
    expect([...scrape().keys()]).toEqual(names);
    expect(names.every((name) => name.startsWith("svc_"))).toBe(true);
  });

  test("has vLLM's names with our prefix, each with the measured values", () => {
    const { requests, metrics, scrape, time } = start();
    time.ms += 100_000;
    tellOnce({ metrics, requests });
    const steps = noSteps();
    countStep(steps, "decode", 0.25);
    countStep(steps, "prefill", 0.5);
    countStep(steps, "mixed", 0.75);
    countStep(steps, "media", 1.5);
    countChunk(steps, "prefill", 48);
    countChunk(steps, "mixed", 12);
    countPause(steps, "decode", 0.125);
    countPause(steps, "prompt", 0.375);
    countPause(steps, "media", 0.625);
    Object.assign(steps.rows, { decode: 71, prefill: 72, media: 73 });
    countDraft(steps.speculation, "ngram", 7, 1);
    for (let series = 0; series < 2; series++) countDraft(steps.speculation, "draft", 4, 2);
    const samples = [...scrape({ steps }).values()].flatMap((family) => family.samples);
    const told = samples.map(({ name, labels, value }) => {
      const own = Object.entries(labels).flatMap(([label, text]) =>
        ["model_name", "engine"].includes(label) ? [] : [text],
      );
      return [[name.slice("svc_".length), ...own].join(" "), value] as const;
    });
    expect(Object.fromEntries(told.filter(([name]) => !name.includes("_bucket")))).toEqual(EVERYTHING);
  });

  test("has vLLM's buckets, so that its dashboards and alerts work", () => {
    const buckets = [...start().scrape()].flatMap(([name, { samples }]) => {
      const bounds = samples.flatMap(({ labels }) => (labels["le"] === undefined ? [] : [Number(labels["le"])]));
      return bounds.length === 0 ? [] : [[name.slice("svc_".length), [...new Set(bounds)].slice(0, -1)] as const];
    });
    expect(Object.fromEntries(buckets)).toEqual({
      time_to_first_token_seconds: FIRST_TOKEN,
      inter_token_latency_seconds: INTER_TOKEN,
      request_time_per_output_token_seconds: INTER_TOKEN,
      request_queue_time_seconds: SECONDS,
      request_prefill_time_seconds: SECONDS,
      request_decode_time_seconds: SECONDS,
      request_inference_time_seconds: SECONDS,
      e2e_request_latency_seconds: SECONDS,
      request_prompt_tokens: TOKENS,
      request_generation_tokens: TOKENS,
      engine_step_duration_seconds: STEP,
      stream_pause_seconds: STEP,
      prefill_chunk_tokens: [1, 4, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096],
    });
  });

  test("labels everything with the model, except what belongs to the process", () => {
    const modelName = 'odd "name" \\ with\nnewline';
    for (const [name, { samples }] of start(modelName).scrape()) {
      const process = /process|connections|http|build|cancel|svc_batch|svc_stored|realtime/.test(name);
      for (const { labels } of samples) expect(labels["model_name"]).toBe(process ? undefined : modelName);
    }
  });
});

describe("the metrics", () => {
  test("report levels of the moment", () => {
    const { read, metrics } = start();
    metrics.connectionOpened();
    metrics.connectionOpened();
    metrics.connectionClosed();
    expect(read("svc_num_requests_running")).toBe(2);
    expect(read("svc_num_requests_waiting_by_reason", { reason: "prefix" })).toBe(12);
    expect(read("svc_num_requests_waiting_by_reason", { reason: "turn" })).toBe(0);
    expect(read("svc_kv_cache_usage_perc")).toBe(0.25);
    expect(read("svc_kv_cache_usage_perc", {}, { size: 0, kv: { used: 0 } })).toBe(0);
    expect(read("svc_engine_up", {}, { state: "failed" })).toBe(0);
    expect(read("svc_engine_up", {}, { state: "stalled" })).toBe(0);
    expect([read("svc_engine_stalled"), read("svc_engine_stalled", {}, { stalledSince: 1 })]).toEqual([0, 1]);
    expect(read("svc_num_active_connections")).toBe(1);
    expect(read("svc_active_connections_peak")).toBe(2);
    expect(read("svc_process_start_time_seconds")).toBe(1_700_000_000);
  });

  test("count a generation once, with its tokens and times in seconds", () => {
    const { requests, read } = start();
    expect(read("svc_request_success_total", { finished_reason: "length" })).toBe(0);
    requests.started();
    requests.firstToken(210);
    requests.interToken(50);
    requests.finished("length", usage, 1300);
    expect(read("svc_requests_started_total")).toBe(1);
    expect(read("svc_request_success_total", { finished_reason: "length" })).toBe(1);
    expect(read("svc_prompt_tokens_total")).toBe(100);
    expect(read("svc_prompt_tokens_cached_total")).toBe(40);
    expect(read("svc_generation_tokens_total")).toBe(20);
    expect(read("svc_time_to_first_token_seconds_sum")).toBe(0.21);
    expect(read("svc_time_to_first_token_seconds_bucket", { le: "0.1" })).toBe(0);
    expect(read("svc_time_to_first_token_seconds_bucket", { le: "0.25" })).toBe(1);
    expect(read("svc_request_inference_time_seconds_sum")).toBe(2.1);
    expect(read("svc_e2e_request_latency_seconds_sum")).toBe(1.3);
    expect(read("svc_request_time_per_output_token_seconds_sum")).toBe(0.1);
    expect(read("svc_request_prompt_tokens_bucket", { le: "100" })).toBe(1);
  });

  test("put a value on a bound into that bucket, and one beyond all bounds into the infinite one", () => {
    const { requests, read } = start();
    requests.firstToken(0.5);
    expect(read("svc_time_to_first_token_seconds_bucket", { le: "0.001" })).toBe(1);
    requests.firstToken(250);
    requests.firstToken(1e9);
    expect(read("svc_time_to_first_token_seconds_bucket", { le: "0.25" })).toBe(2);
    expect(read("svc_time_to_first_token_seconds_bucket", { le: "+Inf" })).toBe(3);
  });

  test("count requests by route and status", () => {
    const { read, metrics } = start();
    for (const status of [200, 200, 400]) metrics.requestEnded("/v1/chat/completions", status);
    metrics.requestEnded("unknown", 404);
    metrics.requestEnded("/v1/models", 200, "ada");
    expect(read("svc_http_requests_total", { route: "/v1/chat/completions", status: "200" })).toBe(2);
    expect(read("svc_http_requests_total", { route: "/v1/chat/completions", status: "400" })).toBe(1);
    expect(read("svc_http_requests_total", { route: "unknown" })).toBe(1);
    expect(read("svc_api_key_requests_total", { api_key: "ada", status: "200" })).toBe(1);
  });

  test("count steps by kind, over all engine processes", () => {
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

  test("count speculative tokens by source and position, over all engine processes", () => {
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

  test("count batches and files in the data folder, and lines when they are written", () => {
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
    // Missing information has no value, rather than a wrong one.
    const unread = scrape({ jobs: undefined });
    expect(unread.get("svc_batches")?.samples).toEqual([]);
    expect(unread.get("svc_batch_lines_total")?.samples).toHaveLength(3);
  });

  test("count failures and rejections separately", () => {
    const { requests, read } = start();
    requests.failed("engine_crashed", 50);
    requests.failed("engine_crashed", 50);
    requests.rejected("queue_timeout");
    expect(read("svc_request_failure_total", { code: "engine_crashed" })).toBe(2);
    expect(read("svc_admission_rejections_total", { reason: "queue_timeout" })).toBe(1);
    expect(read("svc_admission_rejections_total", { reason: "queue_full" })).toBe(0);
  });

  test("have no computing times for a request that was cancelled before anything was computed", () => {
    const { requests, read } = start();
    requests.finished("cancelled", { ...usage, completionTokens: 0 }, 5);
    expect(read("svc_request_success_total", { finished_reason: "cancelled" })).toBe(1);
    expect(read("svc_request_prefill_time_seconds_count")).toBe(0);
    expect(read("svc_e2e_request_latency_seconds_count")).toBe(1);
  });

  test("have only the measured times for requests that are not generations", () => {
    const { requests, read } = start();
    const vectors = { ...noUsage(), promptTokens: 12 };
    const recording = { ...noUsage(), completionTokens: 30 };
    for (const one of [vectors, recording]) requests.finished("stop", one, 900, { queueMs: 100, computingMs: 700 });
    // An upstream's times are unknown.
    requests.finished("stop", { ...usage, queueMs: 0 }, 2500);
    const counts = ["queue", "inference", "prefill", "decode"].map((name) =>
      read(`svc_request_${name}_time_seconds_count`),
    );
    expect(counts).toEqual([2, 3, 1, 1]);
    expect(read("svc_request_queue_time_seconds_sum")).toBe(0.2);
    expect(read("svc_request_inference_time_seconds_sum")).toBeCloseTo(1.4 + 2.1);
    expect([read("svc_request_prompt_tokens_count"), read("svc_request_generation_tokens_count")]).toEqual([2, 2]);
  });

  test("have a time between tokens for an answer of two tokens, but not of one", () => {
    const { read, requests } = start();
    requests.finished("stop", { ...usage, completionTokens: 1 }, 5);
    expect(read("svc_request_time_per_output_token_seconds_count")).toBe(0);
    requests.finished("stop", { ...usage, completionTokens: 2 }, 5);
    expect(read("svc_request_time_per_output_token_seconds_sum")).toBe(1.9);
  });

  test("count throughput from the start, including a part of the current second, for ten seconds", () => {
    const { read, requests, time } = start();
    const rate = () => read("svc_avg_generation_throughput_toks_per_s");
    const forward = (ms: number) => {
      time.ms += ms;
      return rate();
    };
    expect(rate()).toBe(0);
    for (let token = 0; token < 20; token++) requests.interToken(1);
    requests.interToken(1, 10);
    expect([rate(), forward(1000), forward(500), forward(500), forward(7000)]).toEqual([30, 30, 20, 15, 30 / 9]);
    expect([forward(999), forward(1)]).toEqual([30 / 9.999, 0]);
  });

  test("show the throughput of the last seconds while a generation is running", () => {
    const { requests, read, time } = start();
    time.ms += 100_000;
    for (let token = 0; token < 400; token++) {
      time.ms += 25;
      requests.interToken(25);
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

test("llama.cpp's dashboards find their metrics next to svc's", () => {
  const { read, requests } = start("tiny", "llamacpp");
  requests.started();
  requests.finished("stop", usage, 2200);
  const value = (name: string) => read(`llamacpp:${name}`);
  expect([value("prompt_tokens_total"), value("tokens_predicted_total")]).toEqual([60, 20]);
  expect([value("prompt_seconds_total"), value("tokens_predicted_seconds_total")]).toEqual([0.2, 1.9]);
  expect([value("prompt_tokens_seconds"), value("predicted_tokens_seconds")]).toEqual([300, 20 / 1.9]);
  expect(value("requests_processing")).toBe(read("svc_num_requests_running"));
  expect(value("requests_deferred")).toBe(read("svc_num_requests_waiting"));
  expect([value("prompt_tokens_cached_total"), value("n_tokens_max")]).toEqual([40, 120]);
  requests.finished("stop", { ...usage, promptTokens: 10 }, 2200);
  expect(value("n_tokens_max")).toBe(120);
  expect(start().read("llamacpp:prompt_tokens_total")).toBeUndefined();
});
