// The levels that the engine reports to the front process with every message.

import type { Scheduler } from "../../../scheduler/scheduler.ts";
import type { Levels } from "../protocol.ts";
import type { KvDisk } from "./kv-disk.ts";

/**
 * Returns the scheduler's levels at this time of its clock, with the decode steps made and their threads. `media`:
 * accepted requests that it does not know yet.
 */
export function levelsOf(
  scheduler: Scheduler,
  now: number,
  disk: KvDisk["counts"] | undefined,
  { steps, threads, media }: { readonly steps: number; readonly threads: number; readonly media: number },
): Levels {
  const { kv } = scheduler;
  const { running, idle } = kv.inUse;
  const placeFreeMs = scheduler.placeFreeMs();
  return {
    running: scheduler.runningCount,
    waiting: scheduler.waitingCount,
    waitingFor: { ...scheduler.waitingFor(now), media },
    kv: {
      used: running,
      idle,
      host: kv.host.tokens,
      disk: disk?.held ?? 0,
      steps,
      threads,
      preempted: scheduler.preemptions,
      evicted: kv.evictedTokens,
      offloaded: kv.host.offloaded,
      restored: kv.host.restored,
      diskWritten: disk?.written ?? 0,
      diskRestored: disk?.restored ?? 0,
      diskFailed: disk?.failed ?? 0,
    },
    ...(placeFreeMs !== undefined && { placeFreeMs }),
  };
}
