// GET /metrics

import { Elysia } from "elysia";
import type { JobLevels } from "../../telemetry/metrics.ts";
import type { AppDeps } from "../deps.ts";

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Prometheus text: counters and histograms of the front process, levels of the engine and of the data folder. */
export const metricsRoutes = (
  { engine, generation, metrics, config, version }: AppDeps,
  jobs: () => JobLevels | undefined,
) =>
  new Elysia({ name: "route.metrics" }).get(
    "/metrics",
    () => {
      const { stats, steps, ...status } = engine.status();
      const body = metrics.render({
        version,
        modelName: status.modelId,
        running: stats.running,
        waiting: stats.waiting,
        waitingFor: stats.waitingFor,
        parallel: config.parallel,
        kvUsed: stats.kvUsed,
        kvCached: stats.kvCached,
        kvSaved: stats.kvSaved,
        spilledTokens: stats.spilledTokens,
        kvDisk: stats.kvDisk,
        restoredTokens: stats.restoredTokens,
        diskWrittenTokens: stats.diskWrittenTokens,
        diskRestoredTokens: stats.diskRestoredTokens,
        diskFailedTokens: stats.diskFailedTokens,
        evictedTokens: stats.evictedTokens,
        kvTotal: stats.kvTotal,
        preemptions: stats.preemptions,
        engineSteps: stats.steps,
        engineRestarts: status.restarts,
        engineUp: status.state === "ready",
        engineResidentBytes: stats.residentBytes,
        registered: generation.registeredCount,
        residentBytes: process.memoryUsage.rss(),
        cpuSeconds: cpuSeconds(process.cpuUsage()),
        steps,
        jobs: jobs(),
      });
      return new Response(body, { headers: { "Content-Type": CONTENT_TYPE } });
    },
    {
      detail: {
        responses: {
          200: {
            description: "Prometheus text exposition.",
            content: { "text/plain": { schema: { type: "string" } } },
          },
        },
      },
    },
  );

const cpuSeconds = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1e6;
