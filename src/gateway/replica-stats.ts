// Counts the events of one replica, for /metrics and GET /upstreams.

import type { ErrorCode } from "../domain/errors.ts";
import type { ReplicaCounts } from "../domain/upstream.ts";
import { by, counter, Histogram, type Metric } from "../telemetry/exposition.ts";
import { FIRST_TOKEN_SECONDS } from "../telemetry/request-counts.ts";

/** Number of durations that are kept. */
const KEPT_TIMES = 256;

/** How a request was routed to a replica. */
export interface Routing {
  /** Whether the request failed before, here or at another replica. */
  readonly isRetry: boolean;
  /** Whether requests with this prefix go to this replica by default. */
  readonly isOwn: boolean;
}

/** Tokens of a finished request. */
export type TokenCounts = Pick<ReplicaCounts, "promptTokens" | "cachedTokens" | "completionTokens">;

/** The most recent durations of something. */
class RecentTimes {
  private readonly times: number[] = [];
  private next = 0;

  get count(): number {
    return this.times.length;
  }

  add(ms: number): void {
    this.times[this.next] = ms;
    this.next = (this.next + 1) % KEPT_TIMES;
  }

  /** Returns the time that this share (0 to 1) of the durations did not exceed; undefined when there are none. */
  quantile(share: number): number | undefined {
    const sorted = this.times.toSorted((a, b) => a - b);
    return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  }
}

export class ReplicaStats implements ReplicaCounts {
  requests = 0;
  retries = 0;
  hedges = 0;
  outages = 0;
  affinityHits = 0;
  affinityMisses = 0;
  promptTokens = 0;
  cachedTokens = 0;
  completionTokens = 0;
  readonly failures = new Map<ErrorCode, number>();
  /** Milliseconds to the first token. */
  readonly firstTokens = new RecentTimes();
  private readonly firstToken = new Histogram(
    "svc_upstream_time_to_first_token_seconds",
    "Time from sending a request to a replica to the first text of its answer.",
    FIRST_TOKEN_SECONDS,
  );

  began({ isRetry, isOwn }: Routing): void {
    this.requests++;
    if (isRetry) this.retries++;
    if (isOwn) this.affinityHits++;
    else this.affinityMisses++;
  }

  firstTokenCame(ms: number): void {
    this.firstTokens.add(ms);
    this.firstToken.observe(ms / 1000);
  }

  finished({ promptTokens, cachedTokens, completionTokens }: TokenCounts): void {
    this.promptTokens += promptTokens;
    this.cachedTokens += cachedTokens;
    this.completionTokens += completionTokens;
  }

  failed(code: ErrorCode): void {
    this.failures.set(code, (this.failures.get(code) ?? 0) + 1);
  }

  metrics(): Metric[] {
    return [
      counter("svc_upstream_requests_total", "Requests sent to a replica, including retries.", this.requests),
      counter("svc_upstream_retries_total", "Requests sent to a replica that had failed before.", this.retries),
      counter(
        "svc_upstream_hedges_total",
        "Requests also sent to a replica because another one was silent for longer than usual.",
        this.hedges,
      ),
      by("counter", "svc_upstream_failures_total", "Requests that failed at a replica.", "code", this.failures),
      counter("svc_upstream_outages_total", "How often a replica went down.", this.outages),
      counter(
        "svc_upstream_affinity_hits_total",
        "Requests sent to the replica that their prefix is assigned to.",
        this.affinityHits,
      ),
      counter(
        "svc_upstream_affinity_misses_total",
        "Requests sent to another replica because their own was busy, down or draining.",
        this.affinityMisses,
      ),
      counter("svc_upstream_prompt_tokens_total", "Prompt tokens of finished requests.", this.promptTokens),
      counter(
        "svc_upstream_prompt_tokens_cached_total",
        "Prompt tokens that a replica reported as cached.",
        this.cachedTokens,
      ),
      counter("svc_upstream_generation_tokens_total", "Generated tokens.", this.completionTokens),
      this.firstToken.metric(),
    ];
  }
}
