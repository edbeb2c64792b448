// GET /metrics of a whole server: which level of the engine goes under which name.

import { expect, test } from "bun:test";
import { systemClock } from "../../src/domain/clock.ts";
import type { EngineStats } from "../../src/engine/text/port.ts";
import { PrometheusMetrics } from "../../src/telemetry/prometheus.ts";
import { parseExposition } from "../support/exposition.ts";
import { serve } from "./harness.ts";

const stats: EngineStats = {
  running: 1,
  waiting: 20,
  waitingFor: { sequence: 2, cells: 3, prefix: 4, turn: 5, step: 6 },
  kvUsed: 512,
  kvCached: 100,
  kvSaved: 101,
  kvDisk: 102,
  kvTotal: 1024,
  steps: 103,
  preemptions: 104,
  evictedTokens: 105,
  spilledTokens: 106,
  restoredTokens: 107,
  diskWrittenTokens: 108,
  diskRestoredTokens: 109,
  diskFailedTokens: 110,
  residentBytes: 111,
};

test("each level of the engine is told under its name", async () => {
  const server = serve();
  const status = { ...server.engine.status(), stats, restarts: 7 };
  server.engine.status = () => status;
  const counters = new PrometheusMetrics(systemClock);
  server.metrics.render = (levels) => counters.render(levels);
  const families = parseExposition(await (await fetch(`${server.url}/metrics`)).text());
  const values = (name: string) => families.get(`svc_${name}`)?.samples.map(({ value }) => value);
  expect(values("num_requests_waiting_by_reason")).toEqual([2, 3, 4, 5, 6]);
  const told = {
    num_requests_running: 1,
    num_requests_waiting: 20,
    max_concurrent_requests: 4,
    kv_cache_usage_perc: 0.5,
    kv_cache_size_tokens: 1024,
    kv_cache_used_tokens: 512,
    kv_cache_idle_tokens: 100,
    kv_cache_saved_tokens: 101,
    kv_disk_tokens: 102,
    engine_steps_total: 103,
    num_preemptions_total: 104,
    kv_cache_evicted_tokens_total: 105,
    kv_cache_spilled_tokens_total: 106,
    kv_cache_restored_tokens_total: 107,
    kv_disk_written_tokens_total: 108,
    kv_disk_restored_tokens_total: 109,
    kv_disk_failed_tokens_total: 110,
    engine_resident_memory_bytes: 111,
    engine_restarts_total: 7,
    engine_up: 1,
    cancel_registry_entries: 0,
  };
  expect(Object.fromEntries(Object.keys(told).map((name) => [name, values(name)?.[0]]))).toEqual(told);
  expect(values("process_resident_memory_bytes")?.[0]).toBeWithin(1e7, 1e11);
  expect(values("process_cpu_seconds_total")?.[0]).toBeWithin(0.01, 1e5);
  expect(families.get("svc_build_info")?.samples[0]?.labels).toEqual({ version: "0.0.0-test" });
  expect(families.get("svc_num_requests_running")?.samples[0]?.labels).toEqual({ model_name: "fake-model" });

  server.engine.status = () => ({ ...status, state: "loading" });
  const loading = parseExposition(await (await fetch(`${server.url}/metrics`)).text());
  expect(loading.get("svc_engine_up")?.samples[0]?.value).toBe(0);
});
