// Which waiting requests are worth reading something from disk for. They wait for it while others are computed.

import type { KvCache, KvLimits } from "./kv-cache.ts";
import { cutBefore } from "../media-span.ts";
import type { Sequence } from "../sequence.ts";
import { FEWEST_SAVED } from "./host-cache.ts";
import type { StepCost } from "../cost/step-cost.ts";

export class DiskLoads {
  /** What one sequence can hold. */
  private readonly room: number;

  constructor(
    private readonly limits: KvLimits,
    private readonly kv: KvCache,
    private readonly cost: Pick<StepCost, "prefillExceeds">,
  ) {
    const { layout, cells, sequences } = limits;
    this.room = layout === "streams" ? Math.floor(cells / sequences) : cells;
  }

  /** Whether more of a request's tokens are on their way from disk. It is looked up once a request. */
  awaitedBy(sequence: Sequence, now: number): boolean {
    if (sequence.load === undefined) sequence.load = this.begin(sequence, now) ?? "none";
    return sequence.load !== "none" && this.kv.spill.disk.isLoading(sequence.load);
  }

  private begin(sequence: Sequence, now: number): number | undefined {
    const { spill } = this.kv;
    if (!this.limits.stores || !this.limits.reuse) return undefined;
    const found = spill.disk.find(sequence, sequence.length - 1);
    if (!found || found.stored.ids.length > this.room) return undefined;
    const gain = cutBefore(sequence.media, found.length) - this.kv.reusable(sequence, now).tokens;
    const ms = spill.disk.loadMs(found.stored) + spill.restoreMs(found.stored);
    if (gain < FEWEST_SAVED || !this.cost.prefillExceeds(gain, ms)) return undefined;
    return spill.load(found.stored, now);
  }
}
