// Generates the page of metrics from a scrape of an idle server, made by the functions of the real one.

import { drawnMetrics } from "../../src/engine/image/image-engine.ts";
import { metricsOf } from "../../src/gateway/replica-metrics.ts";
import { ReplicaStats } from "../../src/gateway/replica-stats.ts";
import { processMetrics } from "../../src/engine/process/status.ts";
import { TextStats } from "../../src/engine/text/stats.ts";
import { exposition, type Metric } from "../../src/telemetry/exposition.ts";
import { PrometheusMetrics } from "../../src/telemetry/prometheus.ts";
import { RequestCounts } from "../../src/telemetry/request-counts.ts";
import { page, table } from "./table.ts";

const clock = { now: () => 0, wall: () => 0, after: () => () => {} };
const idle = { state: "ready", restarts: 0, running: 0, waiting: 0, residentBytes: 0 } as const;
const file = { count: 0, bytes: 0 };
const jobs = { batches: new Map([["completed", 0]]), linesWaiting: 0, files: new Map([["batch", file]]) };
const levels = { version: "", engines: [], registered: 0, residentBytes: 0, cpuSeconds: 0, sessions: 0, jobs };

const text = (metrics: readonly Metric[]) => exposition([{ labels: {}, metrics }]);

export function metricsPage(): string {
  const groups = {
    "Requests of a model": text(new RequestCounts(clock).metrics()),
    "All engines": text(processMetrics(idle)),
    "Text engines": text(new TextStats(clock).metrics(1, 1)),
    "Image engines": text(drawnMetrics({ images: 0, steps: 0, left: 0, stepSeconds: 0 })),
    Upstreams: text(metricsOf({ state: "up", inFlight: 0, stats: new ReplicaStats() })),
    "The server": new PrometheusMetrics(clock).render(levels),
  };
  const parts = Object.entries(groups).map(([title, scrape]) => {
    return `## ${title}\n\n${table(["metric", "type", "labels", "meaning"], families(scrape))}`;
  });
  const intro = `\`GET /metrics\` in Prometheus' text format, version 0.0.4. Metrics of requests and engines also have the labels \`model_name\` and
\`engine\` (\`text\`, \`embedding\`, …), those of upstreams \`upstream\` (its name) and \`replica\` (its URL). Labels never hold what clients send. Which to watch first: [monitoring](../monitoring.md).`;
  return page("Metrics", intro, ...parts);
}

/** Labels of metrics that have no samples before the first request. */
const LATER: Readonly<Record<string, string>> = {
  svc_http_requests_total: "route, status",
  svc_api_key_requests_total: "api_key, status",
  svc_lora_requests_total: "lora_name",
  svc_request_failure_total: "code",
  svc_upstream_failures_total: "code",
  svc_spec_decode_num_accepted_tokens_per_pos_total: "source, position",
};

function families(scrape: string): string[][] {
  const described = [...scrape.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)\n(?:[^#{\n]+(?:\{(.*)\})?)?/gm)];
  return described.map(([, name = "", help = "", type = "", sample = ""]) => {
    const labels = [...sample.matchAll(/(\w+)="/g)].map(([, label = ""]) => label).filter((label) => label !== "le");
    return [`\`${name}\``, type, LATER[name] ?? labels.join(", "), help];
  });
}
