// GET /metrics

import { Elysia } from "elysia";
import { subjectLabels, type JobLevels } from "../../telemetry/metrics.ts";
import type { AppDeps } from "../deps.ts";
import { textContent } from "../json-content.ts";

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Levels that are read only when metrics are requested. */
interface Levels {
  readonly jobs: () => JobLevels | undefined;
  /** Number of live sessions. */
  readonly sessions: () => number;
}

/** Prometheus text: counters and histograms of the front process, levels of the engines and of the data folder. */
export const metricsRoutes = (
  { engines, requests, upstreams, metrics, version }: AppDeps,
  { jobs, sessions }: Levels,
) => {
  return new Elysia({ name: "route.metrics" }).get(
    "/metrics",
    () => {
      // A model whose file was replaced may have two engines for a while: the last one is that of the new file.
      const byName = new Map(engines().map((engine) => [`${engine.kind} ${engine.model}`, engine]));
      const all = [...byName.values()];
      // Registered before they count, so that the first increase of each counter is visible as an increase.
      for (const engine of all) metrics.of(engine);
      const body = metrics.render({
        version,
        engines: [
          ...all.map((engine) => ({ labels: subjectLabels(engine), metrics: engine.metrics() })),
          ...upstreams.metrics(),
        ],
        registered: requests.registeredCount,
        residentBytes: process.memoryUsage.rss(),
        cpuSeconds: cpuSeconds(process.cpuUsage()),
        jobs: jobs(),
        sessions: sessions(),
      });
      return new Response(body, { headers: { "Content-Type": CONTENT_TYPE } });
    },
    { detail: { responses: { 200: textContent(["text/plain"]) } } },
  );
};

const cpuSeconds = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1e6;
