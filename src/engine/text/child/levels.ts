// What the front process is told of the engine with every message.

import type { Scheduler } from "../../../scheduler/scheduler.ts";
import type { Levels } from "../protocol.ts";
import type { KvDisk } from "./kv-disk.ts";

/** The scheduler's levels at a time of its clock, and what the engine adds. */
export function levelsOf(
  scheduler: Scheduler,
  now: number,
  disk: KvDisk["counts"] | undefined,
  engine: Pick<Levels, "steps" | "residentBytes">,
): Levels {
  const { spill } = scheduler;
  const placeFreeMs = scheduler.placeFreeMs();
  return {
    running: scheduler.runningCount,
    waiting: scheduler.waitingCount,
    waitingFor: scheduler.waiting(now),
    kvUsed: scheduler.cellsUsed,
    kvCached: scheduler.cellsCached,
    kvSaved: spill.tokens,
    kvDisk: disk?.held ?? 0,
    preemptions: scheduler.preemptions,
    evictedTokens: scheduler.evictedTokens,
    spilledTokens: spill.moved,
    restoredTokens: spill.restored,
    diskWrittenTokens: disk?.written ?? 0,
    diskRestoredTokens: disk?.restored ?? 0,
    diskFailedTokens: disk?.failed ?? 0,
    ...engine,
    ...(placeFreeMs !== undefined && { placeFreeMs }),
  };
}
