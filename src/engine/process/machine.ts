// Finds out how much memory and how many cores this process may use, and what others use.

import { readFileSync } from "node:fs";
import { availableParallelism, cpus, freemem, totalmem } from "node:os";

/** Reads a file of the kernel; returns "" when there is no such file. */
type ReadText = (path: string) => string;

/** Returns the bytes available without pushing out others: the kernel's estimate, within the container's limit. */
export function availableMemory(read: ReadText = readText): number {
  // Kernels without this file count caches as used, so their number of free bytes says little.
  const free = fromMeminfo(read) ?? Math.max(freemem(), totalmem() / 2);
  const limits = cgroups.map((names) => leftInCgroup(names, read)).filter((bytes) => bytes !== undefined);
  return Math.min(free, ...limits);
}

/**
 * Returns the bytes of this process that become free when it ends. Its mapped files are file cache, which already
 * counts as available. Where the system does not tell them apart, returns all resident bytes.
 */
export function ownMemory(read: ReadText = readText): number {
  const kilobytes = /^RssAnon:\s+(\d+) kB/m.exec(read("/proc/self/status"))?.[1];
  return kilobytes === undefined ? process.memoryUsage.rss() : Number(kilobytes) * 1024;
}

/**
 * Returns the physical cores that this process may run on: hyper-threads of one core share its arithmetic units, so
 * they count once. A container's share is rounded down: with more threads, all are stopped for the rest of each period.
 */
export function physicalCores(read: ReadText = readText): number {
  const logical = availableParallelism();
  const cores = process.platform === "linux" ? (fromTopology(read) ?? logical) : logical;
  return Math.max(1, Math.floor(Math.min(cores, logical, ...cpuShares(read))));
}

/**
 * Returns the share of the machine, 0 to 1, that threads other than `own` want at this moment; 0 where the system does
 * not say. Threads that wait for each other in every step, as ggml's do, nearly stop when one of them must wait for a
 * core: it is better to use fewer threads than there are idle cores.
 */
export function othersShare(own: number): number {
  // The threads of all programs that compute or wait for a core.
  const running = /(\d+)\/\d+/.exec(readText("/proc/loadavg"))?.[1] ?? 0;
  // Of the whole machine, as loadavg is.
  return Math.min(1, Math.max(0, Number(running) - own) / cpus().length);
}

/** Where versions 2 and 1 of cgroups state the limit, the use, and the part of the use that is idle file cache. */
const cgroups = [
  { folder: "/sys/fs/cgroup", limit: "memory.max", used: "memory.current", cache: "inactive_file" },
  {
    folder: "/sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    cache: "total_inactive_file",
  },
] as const;

function fromMeminfo(read: ReadText): number | undefined {
  const kilobytes = /^MemAvailable:\s+(\d+) kB/m.exec(read("/proc/meminfo"))?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

/** A model read before is file cache, which counts as used but can be evicted: it must not shrink the next context. */
function leftInCgroup({ folder, limit, used, cache }: (typeof cgroups)[number], read: ReadText): number | undefined {
  const most = read(`${folder}/${limit}`).trim();
  // "max", or no such file: there is no limit.
  if (!/^\d+$/.test(most)) return undefined;
  const idle = new RegExp(`^${cache} (\\d+)$`, "m").exec(read(`${folder}/memory.stat`))?.[1] ?? 0;
  return Math.max(0, Number(most) - Number(read(`${folder}/${used}`)) + Number(idle));
}

/** Returns the cores' worth of time that a container may use, by cgroups version 2 and 1; empty without a limit. */
function cpuShares(read: ReadText): number[] {
  const folder = "/sys/fs/cgroup/cpu";
  const limits = [
    read("/sys/fs/cgroup/cpu.max"),
    `${read(`${folder}/cpu.cfs_quota_us`)} ${read(`${folder}/cpu.cfs_period_us`)}`,
  ];
  return limits
    .map((limit) => /^(\d+)\s+(\d+)\s*$/.exec(limit))
    .filter((found) => found !== null)
    .map(([, quota, period]) => Number(quota) / Number(period));
}

function fromTopology(read: ReadText): number | undefined {
  const cores = new Set<string>();
  for (const entry of read("/proc/cpuinfo").split("\n\n")) {
    const socket = /^physical id\s*:\s*(\d+)/m.exec(entry)?.[1];
    const core = /^core id\s*:\s*(\d+)/m.exec(entry)?.[1];
    if (core !== undefined) cores.add(`${socket ?? 0}/${core}`);
  }
  return cores.size > 0 ? cores.size : undefined;
}

/** Returns a text of the kernel; "" when there is no such file. */
export function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
