// The server's counters and histograms, kept here and rendered as Prometheus text. Names are vLLM's behind our own
// prefix, so that its dashboards need a prefix changed and nothing else.

import type { Clock } from "../domain/clock.ts";
import { BUSY_REASONS, type BusyReason, type ErrorCode } from "../domain/errors.ts";
import type { FinishReason, Usage } from "../domain/usage.ts";
import { WAIT_REASONS } from "../domain/waiting.ts";
import { family, Histogram, type Labels } from "./exposition.ts";
import { jobFamilies } from "./job-metrics.ts";
import { LINE_OUTCOMES, type LineOutcome, type MetricLevels, type Metrics } from "./metrics.ts";
import { RollingRate } from "./rolling-rate.ts";
import { stepFamilies } from "./step-metrics.ts";

const SECONDS = [0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960];
const FIRST_TOKEN = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640,
];
const INTER_TOKEN = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
];
const TOKENS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000];
const RATE_WINDOW_S = 10;

export class PrometheusMetrics implements Metrics {
  private connections = 0;
  private connectionsPeak = 0;
  private started = 0;
  private promptTokens = 0;
  private cachedTokens = 0;
  private completionTokens = 0;
  /** From the start with the reasons that occur, so that the first increase of each is seen as one. */
  private readonly finished = new Map<FinishReason, number>([
    ["stop", 0],
    ["length", 0],
    ["tool_calls", 0],
    ["cancelled", 0],
  ]);
  private readonly rejections = new Map<BusyReason, number>(BUSY_REASONS.map((reason) => [reason, 0]));
  private readonly adapted = new Map<string, number>();
  private readonly failed = new Map<ErrorCode, number>();
  private readonly batchLines = new Map<LineOutcome, number>(LINE_OUTCOMES.map((outcome) => [outcome, 0]));
  /** Answered requests by route and status: routes are the server's own, so there are not many. */
  private readonly answered = new Map<string, { readonly labels: Labels; count: number }>();
  private readonly promptRate: RollingRate;
  private readonly completionRate: RollingRate;
  private readonly startedAt: number;

  private readonly firstTokenSeconds = new Histogram(
    "svc_time_to_first_token_seconds",
    "Admission to first text.",
    FIRST_TOKEN,
  );
  private readonly interTokenSeconds = new Histogram(
    "svc_inter_token_latency_seconds",
    "Between two pieces of text of a generation.",
    INTER_TOKEN,
  );
  private readonly queueSeconds = new Histogram(
    "svc_request_queue_time_seconds",
    "Acceptance to the start of prefill.",
    SECONDS,
  );
  private readonly prefillSeconds = new Histogram(
    "svc_request_prefill_time_seconds",
    "Start of prefill to the first token.",
    SECONDS,
  );
  private readonly decodeSeconds = new Histogram(
    "svc_request_decode_time_seconds",
    "First token to the last.",
    SECONDS,
  );
  private readonly perTokenSeconds = new Histogram(
    "svc_request_time_per_output_token_seconds",
    "Mean of a request between two tokens.",
    INTER_TOKEN,
  );
  private readonly inferenceSeconds = new Histogram(
    "svc_request_inference_time_seconds",
    "Start of prefill to the last token.",
    SECONDS,
  );
  private readonly endToEndSeconds = new Histogram(
    "svc_e2e_request_latency_seconds",
    "Admission to the end of a generation.",
    SECONDS,
  );
  private readonly requestPrompt = new Histogram("svc_request_prompt_tokens", "Prompt tokens of a request.", TOKENS);
  private readonly requestGeneration = new Histogram(
    "svc_request_generation_tokens",
    "Generated tokens of a request.",
    TOKENS,
  );

  constructor(clock: Clock) {
    this.promptRate = new RollingRate(clock, RATE_WINDOW_S);
    this.completionRate = new RollingRate(clock, RATE_WINDOW_S);
    this.startedAt = clock.wall() / 1000;
  }

  connectionOpened(): void {
    this.connections++;
    this.connectionsPeak = Math.max(this.connectionsPeak, this.connections);
  }

  connectionClosed(): void {
    this.connections--;
  }

  requestEnded(route: string, status: number): void {
    const key = `${route} ${status}`;
    const entry = this.answered.get(key) ?? { labels: { route, status: String(status) }, count: 0 };
    entry.count++;
    this.answered.set(key, entry);
  }

  /** A generation was admitted. */
  generationStarted(): void {
    this.started++;
  }

  adapterChosen(name: string): void {
    this.adapted.set(name, (this.adapted.get(name) ?? 0) + 1);
  }

  /** Milliseconds from admission to the first text. */
  firstToken(ms: number): void {
    this.firstTokenSeconds.observe(ms / 1000);
    this.completionRate.add(1);
  }

  /** Milliseconds between two pieces of text of one generation. */
  interToken(ms: number): void {
    this.interTokenSeconds.observe(ms / 1000);
    this.completionRate.add(1);
  }

  generationFinished(reason: FinishReason, usage: Usage, endToEndMs: number): void {
    this.finished.set(reason, (this.finished.get(reason) ?? 0) + 1);
    this.promptTokens += usage.promptTokens;
    this.cachedTokens += usage.cachedTokens;
    this.completionTokens += usage.completionTokens;
    this.promptRate.add(usage.promptTokens - usage.cachedTokens);
    this.endToEndSeconds.observe(endToEndMs / 1000);
    // Of a request that was never computed, or whose client left, the engine has told no times.
    if (usage.completionTokens === 0) return;
    this.requestPrompt.observe(usage.promptTokens);
    this.requestGeneration.observe(usage.completionTokens);
    this.queueSeconds.observe(usage.queueMs / 1000);
    this.prefillSeconds.observe(usage.promptMs / 1000);
    this.decodeSeconds.observe(usage.completionMs / 1000);
    const { completionTokens, completionMs } = usage;
    if (completionTokens > 1) this.perTokenSeconds.observe(completionMs / (completionTokens - 1) / 1000);
    this.inferenceSeconds.observe((usage.promptMs + usage.completionMs) / 1000);
  }

  generationFailed(code: ErrorCode, endToEndMs: number): void {
    this.failed.set(code, (this.failed.get(code) ?? 0) + 1);
    this.endToEndSeconds.observe(endToEndMs / 1000);
  }

  /** A request was turned away with `server_busy`. */
  rejected(reason: BusyReason): void {
    this.rejections.set(reason, (this.rejections.get(reason) ?? 0) + 1);
  }

  /** A line of a batch is in its output. */
  batchLineEnded(outcome: LineOutcome): void {
    this.batchLines.set(outcome, (this.batchLines.get(outcome) ?? 0) + 1);
  }

  /** The text exposition. */
  render(levels: MetricLevels): string {
    const labels = { model_name: levels.modelName };
    const gauge = (name: string, help: string, value: number) => family("gauge", name, help, [[labels, value]]);
    const counter = (name: string, help: string, value: number) => family("counter", name, help, [[labels, value]]);
    const by = (name: string, help: string, label: string, counts: ReadonlyMap<string, number>) =>
      family(
        "counter",
        name,
        help,
        [...counts].map(([value, count]) => [{ ...labels, [label]: value }, count] as const),
      );
    const plain = (name: string, help: string, value: number) => family("gauge", name, help, [[{}, value]]);
    const families = [
      gauge("svc_num_requests_running", "Requests that hold a sequence.", levels.running),
      gauge("svc_num_requests_waiting", "Accepted requests that wait for a sequence or for room.", levels.waiting),
      family(
        "gauge",
        "svc_num_requests_waiting_by_reason",
        "Those by what they wait for.",
        WAIT_REASONS.map((reason) => [{ ...labels, reason }, levels.waitingFor[reason]]),
      ),
      gauge("svc_max_concurrent_requests", "Requests that are computed at once at most.", levels.parallel),
      gauge(
        "svc_kv_cache_usage_perc",
        "Share of the KV cache in use, 0 to 1.",
        levels.kvTotal > 0 ? levels.kvUsed / levels.kvTotal : 0,
      ),
      gauge("svc_kv_cache_size_tokens", "KV cells in all.", levels.kvTotal),
      gauge("svc_kv_cache_used_tokens", "KV cells of running requests.", levels.kvUsed),
      gauge("svc_kv_cache_idle_tokens", "KV cells kept of finished requests, for later ones.", levels.kvCached),
      gauge("svc_kv_cache_saved_tokens", "Tokens kept in host memory, for lack of KV cells.", levels.kvSaved),
      gauge("svc_kv_disk_tokens", "Tokens on disk that this model can go on from.", levels.kvDisk),
      gauge("svc_cancel_registry_entries", "Generations that can be cancelled by id.", levels.registered),
      gauge("svc_engine_up", "1 while the engine is ready.", levels.engineUp ? 1 : 0),
      gauge("svc_engine_resident_memory_bytes", "Memory of the engine process.", levels.engineResidentBytes),
      gauge(
        "svc_avg_prompt_throughput_toks_per_s",
        "Computed prompt tokens of finished requests per second, over 10 s.",
        this.promptRate.perSecond(),
      ),
      gauge(
        "svc_avg_generation_throughput_toks_per_s",
        "Pieces of text (mostly one a token) sent per second, over 10 s.",
        this.completionRate.perSecond(),
      ),
      counter(
        "svc_prompt_tokens_total",
        "Prompt tokens of finished requests, cached ones included.",
        this.promptTokens,
      ),
      counter("svc_prompt_tokens_cached_total", "Prompt tokens that came from the KV cache.", this.cachedTokens),
      counter("svc_generation_tokens_total", "Generated tokens.", this.completionTokens),
      counter("svc_requests_started_total", "Generations admitted.", this.started),
      by("svc_lora_requests_total", "Generations admitted, by LoRA adapter.", "lora_name", this.adapted),
      by("svc_request_success_total", "Generations that ended in order.", "finished_reason", this.finished),
      by("svc_request_failure_total", "Generations that failed.", "code", this.failed),
      by("svc_admission_rejections_total", "Requests turned away with server_busy.", "reason", this.rejections),
      counter(
        "svc_num_preemptions_total",
        "Requests that gave their sequence or their KV room back and were resumed later.",
        levels.preemptions,
      ),
      counter(
        "svc_kv_cache_evicted_tokens_total",
        "KV cells kept of finished requests that had to make room.",
        levels.evictedTokens,
      ),
      counter(
        "svc_kv_cache_spilled_tokens_total",
        "Tokens that were moved to host memory for lack of KV cells.",
        levels.spilledTokens,
      ),
      counter(
        "svc_kv_cache_restored_tokens_total",
        "Tokens that came back from host memory instead of being computed.",
        levels.restoredTokens,
      ),
      counter("svc_kv_disk_written_tokens_total", "Tokens that went to disk.", levels.diskWrittenTokens),
      counter("svc_kv_disk_restored_tokens_total", "Tokens that came back from disk.", levels.diskRestoredTokens),
      counter(
        "svc_kv_disk_failed_tokens_total",
        "Tokens that could not be written to disk or read back.",
        levels.diskFailedTokens,
      ),
      counter("svc_engine_steps_total", "Decode steps.", levels.engineSteps),
      counter("svc_engine_restarts_total", "Engine processes started after the first.", levels.engineRestarts),
      family(
        "counter",
        "svc_http_requests_total",
        "Requests answered, by route and status.",
        [...this.answered.values()].map(({ labels: at, count }) => [at, count] as const),
      ),
      family("gauge", "svc_build_info", "1, with what is running.", [[{ version: levels.version }, 1]]),
      plain("svc_num_active_connections", "Requests under way, streams until their end.", this.connections),
      plain("svc_active_connections_peak", "Most requests under way at once.", this.connectionsPeak),
      plain("svc_process_resident_memory_bytes", "Memory of the front process.", levels.residentBytes),
      family("counter", "svc_process_cpu_seconds_total", "CPU time of the front process.", [[{}, levels.cpuSeconds]]),
      plain("svc_process_start_time_seconds", "Start of the front process, Unix seconds.", this.startedAt),
    ];
    const histograms = [
      this.firstTokenSeconds,
      this.interTokenSeconds,
      this.queueSeconds,
      this.prefillSeconds,
      this.decodeSeconds,
      this.perTokenSeconds,
      this.inferenceSeconds,
      this.endToEndSeconds,
      this.requestPrompt,
      this.requestGeneration,
    ].map((histogram) => histogram.render(labels));
    const jobs = jobFamilies(levels.jobs, this.batchLines);
    return `${[...families, ...histograms, ...stepFamilies(levels.steps, labels), ...jobs].join("\n")}\n`;
  }
}
