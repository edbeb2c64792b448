// The counters of a text engine's steps and KV cache, in one table for the engine that reports them and for scrapes.

import { counter, gauge, type Metric } from "../../telemetry/exposition.ts";

type Row = readonly [type: "counter" | "gauge", name: string, help: string];

const KV = {
  used: ["gauge", "svc_kv_cache_used_tokens", "KV cells of running requests."],
  idle: ["gauge", "svc_kv_cache_idle_tokens", "KV cells with prefixes of finished requests, kept for later requests."],
  host: ["gauge", "svc_kv_host_cache_tokens", "Tokens in the host cache."],
  disk: ["gauge", "svc_kv_disk_tokens", "Tokens in the disk cache that this model can use."],
  steps: ["counter", "svc_engine_steps_total", "Decode steps."],
  threads: [
    "gauge",
    "svc_num_compute_threads",
    "Threads that compute: fewer than --threads while other programs need the cores.",
  ],
  preempted: ["counter", "svc_num_preemptions_total", "Requests that were preempted, to be resumed later."],
  evicted: ["counter", "svc_kv_cache_evicted_tokens_total", "Idle KV cells that were given to other requests."],
  offloaded: ["counter", "svc_kv_cache_offloaded_tokens_total", "Tokens that were offloaded to the host cache."],
  restored: ["counter", "svc_kv_cache_restored_tokens_total", "Tokens that were restored from the host cache."],
  diskWritten: ["counter", "svc_kv_disk_written_tokens_total", "Tokens that were written to the disk cache."],
  diskRestored: ["counter", "svc_kv_disk_restored_tokens_total", "Tokens that were restored from the disk cache."],
  diskFailed: [
    "counter",
    "svc_kv_disk_failed_tokens_total",
    "Tokens that could not be written to or read from the disk cache.",
  ],
} as const satisfies Record<string, Row>;

type KvName = keyof typeof KV;

/** Levels at the last step, and the counts of this engine process. */
export type KvStats = Readonly<Record<KvName, number>>;

const NAMES = Object.keys(KV) as KvName[];

export const noKvStats: KvStats = each(() => 0);

/** Adds an engine process's counts to those of its predecessors. */
export const afterProcesses = (past: KvStats, now: KvStats): KvStats =>
  each((name) => (KV[name][0] === "counter" ? past[name] + now[name] : now[name]));

/** `size`: cells in total; 0 while unknown. */
export function kvMetrics(kv: KvStats, size: number): Metric[] {
  const usage = gauge("svc_kv_cache_usage_perc", "Share of the KV cache in use, 0 to 1.", size && kv.used / size);
  const cells = gauge("svc_kv_cache_size_tokens", "Total KV cells.", size);
  return [usage, cells, ...NAMES.map((name) => metricOf(kv[name], KV[name]))];
}

function metricOf(value: number, [type, name, help]: Row): Metric {
  return (type === "counter" ? counter : gauge)(name, help, value);
}

function each(value: (name: KvName) => number): KvStats {
  return Object.fromEntries(NAMES.map((name) => [name, value(name)])) as KvStats;
}
