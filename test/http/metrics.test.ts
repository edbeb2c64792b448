// What operators see of engines: GET /metrics and GET /health of a server with two engines.

import { expect, test } from "bun:test";
import { Health } from "../../src/contract/health.ts";
import { checker } from "../../src/contract/schema.ts";
import { systemClock } from "../../src/domain/clock.ts";
import type { ProcessStatus } from "../../src/domain/process-status.ts";
import { processMetrics, type ObservedEngine } from "../../src/engine/process/status.ts";
import { PrometheusMetrics } from "../../src/telemetry/prometheus.ts";
import { parseExposition } from "../support/exposition.ts";
import { serve } from "./harness.ts";

const checkHealth = checker(Health);

function observed(kind: string, model: string, status: Partial<ProcessStatus>): ObservedEngine {
  const whole = { state: "ready", restarts: 0, running: 0, waiting: 0, residentBytes: 0, ...status } as const;
  return { kind, model, status: () => whole, metrics: () => processMetrics(whole) };
}

function serveTwo() {
  const server = serve();
  server.engines.push(
    observed("text", "fake-model", { running: 1, waiting: 20, residentBytes: 111, restarts: 7 }),
    observed("embedding", "vectors", { state: "failed", restarts: 2, lastError: "It was killed by signal SIGKILL." }),
  );
  return server;
}

test("each engine's metrics carry its model and kind, and the process metrics are measured", async () => {
  const server = serveTwo();
  const counters = new PrometheusMetrics(systemClock);
  counters.of({ kind: "text", model: "fake-model" }).started();
  server.metrics.render = (levels) => counters.render(levels);
  const families = parseExposition(await (await fetch(`${server.url}/metrics`)).text());
  const values = (name: string) => families.get(`svc_${name}`)?.samples.map(({ value }) => value);
  const told = {
    num_requests_running: [1, 0],
    num_requests_waiting: [20, 0],
    engine_resident_memory_bytes: [111, 0],
    engine_restarts_total: [7, 2],
    engine_up: [1, 0],
    requests_started_total: [1],
    cancel_registry_entries: [0],
  };
  expect(Object.fromEntries(Object.keys(told).map((name) => [name, values(name)]))).toEqual(told);
  expect(values("process_resident_memory_bytes")?.[0]).toBeWithin(1e7, 1e11);
  expect(values("process_cpu_seconds_total")?.[0]).toBeWithin(0.01, 1e5);
  expect(families.get("svc_build_info")?.samples[0]?.labels).toEqual({ version: "0.0.0-test" });
  expect(families.get("svc_num_requests_running")?.samples.map(({ labels }) => labels)).toEqual([
    { model_name: "fake-model", engine: "text" },
    { model_name: "vectors", engine: "embedding" },
  ]);
});

test("any failed engine makes the server degraded and is listed in the health", async () => {
  const server = serve();
  const health = async () => checkHealth(await (await fetch(`${server.url}/health`)).json());
  expect(await health()).toMatchObject({ status: "healthy", engines: [] });
  server.engines.push(...serveTwo().engines);
  expect(await health()).toMatchObject({
    status: "degraded",
    engine: { state: "ready" },
    model: "fake-model",
    engines: [
      { kind: "text", model: "fake-model", state: "ready", running: 1, waiting: 20, resident_bytes: 111, restarts: 7 },
      {
        kind: "embedding",
        model: "vectors",
        state: "failed",
        last_error: "It was killed by signal SIGKILL.",
        restarts: 2,
      },
    ],
  });
});

test("so does an unloaded engine that could not be loaded when it was last tried", async () => {
  const server = serve();
  const status = { state: "unloaded", loadFails: true } as const;
  server.engines.push(observed("embedding", "vectors", status));
  const health = checkHealth(await (await fetch(`${server.url}/health`)).json());
  expect(health).toMatchObject({ status: "degraded", engines: [{ state: "unloaded" }] });
  server.metrics.render = (levels) => new PrometheusMetrics(systemClock).render(levels);
  const families = parseExposition(await (await fetch(`${server.url}/metrics`)).text());
  expect(families.get("svc_engine_up")?.samples.map(({ value }) => value)).toEqual([0]);
});

test("so does a stalled engine, or one stalled process of it, with the time of its last sign of life in seconds", async () => {
  const server = serve();
  server.engines.push(
    observed("embedding", "vectors", { state: "stalled", stalledSince: 1_700_000_000_500, running: 1 }),
  );
  expect(checkHealth(await (await fetch(`${server.url}/health`)).json())).toMatchObject({
    status: "degraded",
    engine: { state: "ready" },
    engines: [{ state: "stalled", stalled_since: 1_700_000_000.5, running: 1 }],
  });
  server.engines.splice(0, 1, observed("recognition", "tesseract", { stalledSince: 1_700_000_000_500 }));
  expect(checkHealth(await (await fetch(`${server.url}/health`)).json())).toMatchObject({
    status: "degraded",
    engines: [{ state: "ready", stalled_since: 1_700_000_000.5 }],
  });
});
