// Finds out how much memory and how many cores this process may use, and what others use.

import { readFileSync } from "node:fs";
import { availableParallelism, cpus, freemem, totalmem } from "node:os";

/** Reads a file of the kernel; returns "" when there is no such file. */
type ReadText = (path: string) => string;

/**
 * Returns the bytes available without pushing out others: the kernel's estimate, within the limits of the container,
 * service or session that this process belongs to.
 */
export function availableMemory(read: ReadText = readText): number {
  // Kernels without this file count caches as used, so their number of free bytes says little.
  const free = fromMeminfo(read) ?? Math.max(freemem(), totalmem() / 2);
  const limits = MEMORY_GROUPS.flatMap((names) =>
    groupFolders(names, read).map((folder) => leftInGroup(folder, names, read)),
  );
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
 * they count once. The share of a container or service is rounded down: with more threads, all are stopped for the rest
 * of each period.
 */
export const physicalCores = (read: ReadText = readText): number => usableCores(read).count;

export interface UsableCores {
  readonly count: number;
  /**
   * Why there are no more: they are all physical cores, the share of a container or service, or what this process may
   * run on, where that is less or the physical cores are unknown.
   */
  readonly limit: "physical" | "share" | "allowed";
}

/** Returns `physicalCores`, and what limits them. `logical`: the number of hyper-threads that this process may run on. */
export function usableCores(read: ReadText = readText, logical = availableParallelism()): UsableCores {
  const physical = process.platform === "linux" ? fromTopology(read) : undefined;
  const cores = Math.min(logical, physical ?? logical);
  const share = Math.min(...cpuShares(read));
  const limit = share < cores ? "share" : cores === physical ? "physical" : "allowed";
  return { count: Math.max(1, Math.floor(Math.min(cores, share))), limit };
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

/** A tree of control groups. */
interface Hierarchy {
  readonly root: string;
  /** The controller of version 1; "" is the hierarchy of version 2. */
  readonly controller: string;
}

/** Where versions 2 and 1 of cgroups state the limit, the use, and the part of the use that is idle file cache. */
const MEMORY_GROUPS = [
  {
    root: "/sys/fs/cgroup",
    controller: "",
    limit: "memory.max",
    used: "memory.current",
    cache: "inactive_file",
  },
  {
    root: "/sys/fs/cgroup/memory",
    controller: "memory",
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    cache: "total_inactive_file",
  },
] as const;

/** Where they state how many microseconds of how many may be computed. */
const CPU_GROUPS = [
  { root: "/sys/fs/cgroup", controller: "", limit: ["cpu.max"] },
  { root: "/sys/fs/cgroup/cpu", controller: "cpu", limit: ["cpu.cfs_quota_us", "cpu.cfs_period_us"] },
] as const;

/**
 * Returns the folders of this process's group and of the groups around it, whose limits apply as well. In a container,
 * the root may be its own group, and then has no folders for the names that the host uses.
 */
function groupFolders({ root, controller }: Hierarchy, read: ReadText): string[] {
  const groups = read("/proc/self/cgroup").matchAll(/^\d+:([^:]*):(.*)$/gm);
  const own = groups.find(([, controllers = ""]) => controllers.split(",").includes(controller));
  const folders = [root];
  for (const name of own?.[2]?.split("/").filter(Boolean) ?? []) folders.push(`${folders.at(-1)}/${name}`);
  return folders;
}

function fromMeminfo(read: ReadText): number | undefined {
  const kilobytes = /^MemAvailable:\s+(\d+) kB/m.exec(read("/proc/meminfo"))?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

/**
 * Returns the bytes below a group's limit; Infinity without one. A model read before is file cache, which counts as used
 * but can be evicted: it must not shrink the next context.
 */
function leftInGroup(folder: string, { limit, used, cache }: (typeof MEMORY_GROUPS)[number], read: ReadText): number {
  const most = read(`${folder}/${limit}`).trim();
  // "max", or no such file.
  if (!/^\d+$/.test(most)) return Number.POSITIVE_INFINITY;
  const idle = new RegExp(`^${cache} (\\d+)$`, "m").exec(read(`${folder}/memory.stat`))?.[1] ?? 0;
  return Math.max(0, Number(most) - Number(read(`${folder}/${used}`)) + Number(idle));
}

/** Returns the cores' worth of time that this process may use, by each limit that there is. */
function cpuShares(read: ReadText): number[] {
  return CPU_GROUPS.flatMap((group) => groupFolders(group, read).map((folder) => ({ folder, names: group.limit })))
    .map(({ folder, names }) => /^(\d+)\s+(\d+)\s*$/.exec(names.map((name) => read(`${folder}/${name}`)).join(" ")))
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
