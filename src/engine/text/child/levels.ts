// The levels that the engine reports to the front process with every message.

import type { Scheduler } from "../../../scheduler/scheduler.ts";
import type { Levels } from "../protocol.ts";
import type { KvDisk } from "./kv-disk.ts";

/** The scheduler's levels at a time of its clock, with the engine's own. */
export function levelsOf(
  scheduler: Scheduler,
  now: number,
  disk: KvDisk["counts"] | undefined,
  engine: Pick<Levels, "steps" | "residentBytes">,
): Levels {
  const { kv } = scheduler;
  const placeFreeMs = scheduler.placeFreeMs();
  return {
    running: scheduler.runningCount,
    waiting: scheduler.waitingCount,
    waitingFor: scheduler.waitingFor(now),
    kvUsed: kv.runningCells,
    kvCached: kv.idleCells,
    kvSaved: kv.host.tokens,
    kvDisk: disk?.held ?? 0,
    preemptions: scheduler.preemptions,
    evictedTokens: kv.evictedTokens,
    spilledTokens: kv.host.offloaded,
    restoredTokens: kv.host.restored,
    diskWrittenTokens: disk?.written ?? 0,
    diskRestoredTokens: disk?.restored ?? 0,
    diskFailedTokens: disk?.failed ?? 0,
    ...engine,
    ...(placeFreeMs !== undefined && { placeFreeMs }),
  };
}
