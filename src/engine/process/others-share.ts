// How busy others keep the machine.

import { readFileSync } from "node:fs";
import { cpus } from "node:os";

/** Of the whole machine's cores, as the system counts them. */
const CORES = cpus().length;

/**
 * The share of the machine that threads other than `own` want at this moment, 0 to 1; 0 where the system does not say. Threads
 * that wait for one another in each step, as those of ggml do, come almost to a standstill when one of them has to wait for a
 * core: it is better to have fewer of them than cores that are free.
 */
export function othersShare(own: number): number {
  const running = runningThreads();
  return running === undefined ? 0 : Math.min(1, Math.max(0, running - own) / CORES);
}

/** How many threads want each core at this moment, 1 at least: so many times as long a computation takes. */
export const crowding = (): number => Math.max(1, (runningThreads() ?? 0) / CORES);

/** Threads that compute or wait for a core, of all programs; this one is among them. */
function runningThreads(): number | undefined {
  try {
    const found = /(\d+)\/\d+/.exec(readFileSync("/proc/loadavg", "latin1"));
    return found ? Number(found[1]) : undefined;
  } catch {
    // Only Linux has it.
    return undefined;
  }
}
