// Inspects other processes of this machine: their children, memory and open files.

import { readdirSync, readFileSync } from "node:fs";

/** Returns the ids of the direct children of a process. */
export function childrenOf(parent: number): number[] {
  if (process.platform !== "linux") {
    const table = Bun.spawnSync(["ps", "-A", "-o", "pid=,ppid="]).stdout.toString();
    const rows = table.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
    return rows.flatMap(([pid, ppid]) => (ppid === parent && pid !== undefined ? [pid] : []));
  }
  const isChild = (pid: number) => Number(/^PPid:\s+(\d+)/m.exec(readStatus(pid))?.[1]) === parent;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter(isChild);
}

/** Returns the ids of a process and all its descendants. */
export const processTree = (root: number): number[] => [root, ...childrenOf(root).flatMap(processTree)];

/** Returns the engine processes of a server for one kind, if it is loaded; none when the system has no /proc. */
export const enginesOf = (server: number, kind: string): number[] =>
  childrenOf(server).filter((child) => contents(`/proc/${child}/cmdline`).endsWith(`__engine\0${kind}\0`));

/** Returns the processor time of processes, for programs and system, in hundredths of a second. */
export function processorTicks(pids: readonly number[]): number {
  const used = pids.map((pid) => {
    const fields = contents(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ") ?? [];
    return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  });
  return used.reduce((sum, ticks) => sum + ticks, 0);
}

/** Returns resident bytes, now or at the peak; 0 when the process has ended or the system has no /proc. */
export function residentBytes(pid: number, which: "now" | "peak" = "now"): number {
  const field = which === "now" ? "VmRSS" : "VmHWM";
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(readStatus(pid))?.[1] ?? 0) * 1024;
}

/** Returns how many files, sockets and pipes a process has open; 0 when it has ended or the system has no /proc. */
export function openFiles(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

/** Returns whether a process runs; a killed process exists until its exit is collected. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readStatus(pid));
  } catch {
    return false;
  }
}

const readStatus = (pid: number): string => contents(`/proc/${pid}/status`);

function contents(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
