// How much memory and how many cores this process may use.

import { readFileSync } from "node:fs";
import { availableParallelism, freemem, totalmem } from "node:os";

/** Bytes that can be taken without pushing others out: the kernel's estimate, within the container's limit. */
export function availableMemory(): number {
  const free = process.platform === "linux" ? fromMeminfo() : totalmem() / 2;
  return Math.min(free ?? freemem(), cgroupLimit() ?? Number.POSITIVE_INFINITY);
}

/** Physical cores that this process may run on: hyper-threads of one core share its arithmetic, so they count once. */
export function physicalCores(): number {
  const logical = availableParallelism();
  const cores = process.platform === "linux" ? fromTopology() : undefined;
  return Math.max(1, Math.min(cores ?? logical, logical));
}

function fromMeminfo(): number | undefined {
  const kilobytes = /^MemAvailable:\s+(\d+) kB/m.exec(read("/proc/meminfo"))?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

function cgroupLimit(): number | undefined {
  const [limit, used] = ["memory.max", "memory.current"].map((name) => read(`/sys/fs/cgroup/${name}`).trim());
  return limit && /^\d+$/.test(limit) ? Math.max(0, Number(limit) - Number(used ?? 0)) : undefined;
}

function fromTopology(): number | undefined {
  const cores = new Set<string>();
  for (const entry of read("/proc/cpuinfo").split("\n\n")) {
    const socket = /^physical id\s*:\s*(\d+)/m.exec(entry)?.[1];
    const core = /^core id\s*:\s*(\d+)/m.exec(entry)?.[1];
    if (core !== undefined) cores.add(`${socket ?? 0}/${core}`);
  }
  return cores.size > 0 ? cores.size : undefined;
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
