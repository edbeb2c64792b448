// What the front process is told of the engine with every message.

import type { Scheduler } from "../../../scheduler/scheduler.ts";
import type { Levels } from "../protocol.ts";
import type { KvDisk } from "./kv-disk.ts";

/** The scheduler's levels at a time of its clock, and the decode steps made. */
export function levelsOf(
  scheduler: Scheduler,
  now: number,
  disk: KvDisk["counts"] | undefined,
  { steps, size }: Pick<Levels["kv"], "steps" | "size">,
): Levels {
  const { spill } = scheduler;
  const placeFreeMs = scheduler.placeFreeMs();
  return {
    running: scheduler.runningCount,
    waiting: scheduler.waitingCount,
    waitingFor: scheduler.waiting(now),
    kv: {
      size,
      used: scheduler.cellsUsed,
      idle: scheduler.cellsCached,
      host: spill.tokens,
      disk: disk?.held ?? 0,
      steps,
      preempted: scheduler.preemptions,
      evicted: scheduler.evictedTokens,
      offloaded: spill.moved,
      restored: spill.restored,
      diskWritten: disk?.written ?? 0,
      diskRestored: disk?.restored ?? 0,
      diskFailed: disk?.failed ?? 0,
    },
    ...(placeFreeMs !== undefined && { placeFreeMs }),
  };
}
