// Counts and times of the requests of one model. The metric names are vLLM's, with svc's prefix.

import type { Clock } from "../domain/clock.ts";
import { BUSY_REASONS, type BusyReason, type ErrorCode } from "../domain/errors.ts";
import { FINISH_REASONS, type FinishReason, type Usage } from "../domain/usage.ts";
import { counter, Counts, gauge, Histogram, type Metric } from "./exposition.ts";
import type { ComputingTimes, RequestMetrics } from "./metrics.ts";
import { RollingRate } from "./rolling-rate.ts";

const SECONDS = [0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960];
/** Upper bounds of the buckets for the time to the first token. */
export const FIRST_TOKEN_SECONDS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640,
];
const INTER_TOKEN = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
];
const TOKENS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000];
const RATE_WINDOW_S = 10;

export class RequestCounts implements RequestMetrics {
  private admitted = 0;
  private promptTokens = 0;
  private cachedTokens = 0;
  private completionTokens = 0;
  private mostTokens = 0;
  private readonly reasons = new Counts(FINISH_REASONS.map((reason) => ({ finished_reason: reason })));
  private readonly rejections = new Counts(BUSY_REASONS.map((reason) => ({ reason })));
  private readonly adapters = new Counts<{ lora_name: string }>();
  private readonly failures = new Counts<{ code: ErrorCode }>();
  private readonly promptRate: RollingRate;
  private readonly completionRate: RollingRate;
  private readonly times = {
    firstToken: new Histogram(
      "svc_time_to_first_token_seconds",
      "Time from admission to the first text of an answer.",
      FIRST_TOKEN_SECONDS,
    ),
    interToken: new Histogram(
      "svc_inter_token_latency_seconds",
      "Time between two pieces of text of an answer.",
      INTER_TOKEN,
    ),
    queue: new Histogram("svc_request_queue_time_seconds", "Time from acceptance to the first computation.", SECONDS),
    prefill: new Histogram(
      "svc_request_prefill_time_seconds",
      "Time from the start of prefill to the first token.",
      SECONDS,
    ),
    decode: new Histogram("svc_request_decode_time_seconds", "Time from the first token to the last.", SECONDS),
    perToken: new Histogram(
      "svc_request_time_per_output_token_seconds",
      "Mean time between two tokens of a request.",
      INTER_TOKEN,
    ),
    inference: new Histogram(
      "svc_request_inference_time_seconds",
      "Time from the first computation to the last token or result.",
      SECONDS,
    ),
    endToEnd: new Histogram("svc_e2e_request_latency_seconds", "Admission to the end of a request.", SECONDS),
    prompt: new Histogram("svc_request_prompt_tokens", "Prompt tokens of a request.", TOKENS),
    generation: new Histogram("svc_request_generation_tokens", "Generated tokens of a request.", TOKENS),
  };

  constructor(clock: Clock) {
    this.promptRate = new RollingRate(clock, RATE_WINDOW_S);
    this.completionRate = new RollingRate(clock, RATE_WINDOW_S);
  }

  started(): void {
    this.admitted++;
  }

  adapterChosen(name: string): void {
    this.adapters.add({ lora_name: name });
  }

  firstToken(ms: number, tokens = 1): void {
    this.times.firstToken.observe(ms / 1000);
    this.completionRate.add(tokens);
  }

  interToken(ms: number, tokens = 1): void {
    this.times.interToken.observe(ms / 1000);
    this.completionRate.add(tokens);
  }

  finished(reason: FinishReason, usage: Usage, endToEndMs: number, measured?: ComputingTimes): void {
    const { times } = this;
    this.reasons.add({ finished_reason: reason });
    this.promptTokens += usage.promptTokens;
    this.cachedTokens += usage.cachedTokens;
    this.completionTokens += usage.completionTokens;
    this.mostTokens = Math.max(this.mostTokens, usage.promptTokens + usage.completionTokens);
    this.promptRate.add(usage.promptTokens - usage.cachedTokens);
    times.endToEnd.observe(endToEndMs / 1000);
    const { promptTokens, completionTokens, promptMs, completionMs } = usage;
    if (promptTokens > 0) times.prompt.observe(promptTokens);
    if (completionTokens > 0) times.generation.observe(completionTokens);
    if (measured) times.queue.observe(measured.queueMs / 1000);
    const generationMs = completionTokens === 0 ? 0 : promptMs + completionMs;
    const inferenceMs = generationMs || measured?.computingMs;
    if (inferenceMs !== undefined) times.inference.observe(inferenceMs / 1000);
    // Only a generation that was computed, and whose client did not disconnect, has these times.
    if (generationMs === 0) return;
    times.prefill.observe(promptMs / 1000);
    times.decode.observe(completionMs / 1000);
    if (completionTokens > 1) times.perToken.observe(completionMs / (completionTokens - 1) / 1000);
  }

  failed(code: ErrorCode, endToEndMs: number, completionTokens = 0): void {
    this.failures.add({ code });
    this.completionTokens += completionTokens;
    this.times.endToEnd.observe(endToEndMs / 1000);
  }

  rejected(reason: BusyReason): void {
    this.rejections.add({ reason });
  }

  metrics(): Metric[] {
    return [
      gauge(
        "svc_avg_prompt_throughput_toks_per_s",
        "Computed prompt tokens of finished requests per second, over 10 s.",
        this.promptRate.perSecond(),
      ),
      gauge(
        "svc_avg_generation_throughput_toks_per_s",
        "Tokens generated per second, over 10 s; for models of upstreams, pieces of text.",
        this.completionRate.perSecond(),
      ),
      counter(
        "svc_prompt_tokens_total",
        "Prompt tokens of finished requests, including cached ones.",
        this.promptTokens,
      ),
      counter("svc_prompt_tokens_cached_total", "Prompt tokens that were in the KV cache.", this.cachedTokens),
      counter("svc_generation_tokens_total", "Generated tokens.", this.completionTokens),
      gauge(
        "svc_request_tokens_max",
        "Highest number of tokens of a request, prompt and answer together.",
        this.mostTokens,
      ),
      counter("svc_requests_started_total", "Requests admitted.", this.admitted),
      this.adapters.metric("svc_lora_requests_total", "Requests admitted, by LoRA adapter."),
      this.reasons.metric("svc_request_success_total", "Requests that ended without an error."),
      this.failures.metric("svc_request_failure_total", "Requests that failed."),
      this.rejections.metric("svc_admission_rejections_total", "Requests refused with server_busy."),
      ...Object.values(this.times).map((histogram) => histogram.metric()),
    ];
  }
}
