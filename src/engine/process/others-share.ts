// Measures how busy other programs keep the machine.

import { readFileSync } from "node:fs";
import { cpus } from "node:os";

/** Cores of the whole machine, as the system counts them. */
const CORES = cpus().length;

/**
 * Returns the share of the machine, 0 to 1, that threads other than `own` want at this moment; 0 where the system does
 * not say. Threads that wait for each other in every step, as ggml's do, nearly stop when one of them must wait for a
 * core: it is better to use fewer threads than there are idle cores.
 */
export function othersShare(own: number): number {
  const running = runningThreads();
  return running === undefined ? 0 : Math.min(1, Math.max(0, running - own) / CORES);
}

/** Returns how many threads of all programs, this one included, compute or wait for a core. */
function runningThreads(): number | undefined {
  try {
    const found = /(\d+)\/\d+/.exec(readFileSync("/proc/loadavg", "latin1"));
    return found ? Number(found[1]) : undefined;
  } catch {
    // Only Linux has this file.
    return undefined;
  }
}
