// The server's metrics as Prometheus text. Metrics of requests and of this process are kept here; engines report
// theirs.

import type { Clock } from "../domain/clock.ts";
import { by, counter, Counts, exposition, gauge, type Labels, type MetricTable } from "./exposition.ts";
import { jobMetrics } from "./job-metrics.ts";
import { llamaMetrics } from "./llama-metrics.ts";
import {
  LINE_OUTCOMES,
  subjectLabels,
  type LineOutcome,
  type MetricLevels,
  type Metrics,
  type MetricSubject,
} from "./metrics.ts";
import { RequestCounts } from "./request-counts.ts";

export class PrometheusMetrics implements Metrics {
  private connections = 0;
  private connectionsPeak = 0;
  private readonly batchLines = new Counts(LINE_OUTCOMES.map((outcome) => ({ outcome })));
  /** Answered requests by route and status. Only served routes occur, so there are few samples. */
  private readonly answered = new Counts();
  private readonly answeredByKey = new Counts();
  /** Request metrics by kind and model. */
  private readonly requests = new Map<string, { readonly labels: Labels; readonly counts: RequestCounts }>();
  private readonly startedAt: number;

  /** `names`: `llamacpp` adds the metrics of engines under llama.cpp's names. */
  constructor(
    private readonly clock: Clock,
    private readonly names: "svc" | "llamacpp" = "svc",
  ) {
    this.startedAt = clock.wall() / 1000;
  }

  connectionOpened(): void {
    this.connections++;
    this.connectionsPeak = Math.max(this.connectionsPeak, this.connections);
  }

  connectionClosed(): void {
    this.connections--;
  }

  requestEnded(route: string, status: number, apiKey?: string): void {
    this.answered.add({ route, status: String(status) });
    if (apiKey !== undefined) this.answeredByKey.add({ api_key: apiKey, status: String(status) });
  }

  of(subject: MetricSubject): RequestCounts {
    const key = `${subject.kind} ${subject.model}`;
    const entry = this.requests.get(key) ?? { labels: subjectLabels(subject), counts: new RequestCounts(this.clock) };
    this.requests.set(key, entry);
    return entry.counts;
  }

  batchLineEnded(outcome: LineOutcome): void {
    this.batchLines.add({ outcome });
  }

  render(levels: MetricLevels): string {
    const requests = [...this.requests.values()].map(({ labels, counts }) => ({ labels, metrics: counts.metrics() }));
    const tables = [...levels.engines, ...requests, this.server(levels)];
    return this.names === "llamacpp" ? exposition(tables) + llamaMetrics(tables) : exposition(tables);
  }

  private server({ version, registered, sessions, residentBytes, cpuSeconds, jobs }: MetricLevels): MetricTable {
    const metrics = [
      gauge("svc_realtime_sessions", "Open sessions of /v1/realtime.", sessions),
      gauge("svc_cancel_registry_entries", "Requests that can be cancelled by id.", registered),
      this.answered.metric("svc_http_requests_total", "Requests answered, by route and status."),
      this.answeredByKey.metric("svc_api_key_requests_total", "Requests answered, by name of the API key and status."),
      by("gauge", "svc_build_info", "Always 1; the label has the version.", "version", [[version, 1]]),
      gauge("svc_num_active_connections", "Requests being answered, streams until their end.", this.connections),
      gauge("svc_active_connections_peak", "Highest number of requests being answered at once.", this.connectionsPeak),
      gauge("svc_process_resident_memory_bytes", "Memory of the front process.", residentBytes),
      counter("svc_process_cpu_seconds_total", "CPU time of the front process.", cpuSeconds),
      gauge("svc_process_start_time_seconds", "Start of the front process, Unix seconds.", this.startedAt),
      ...jobMetrics(jobs, this.batchLines),
    ];
    return { labels: {}, metrics };
  }
}
