// Decides which waiting requests are worth reading a prefix from disk for. They wait while others are computed.

import type { StepCost } from "../cost/step-cost.ts";
import type { SchedulerLimits } from "../limits.ts";
import { boundaryBefore } from "../media-span.ts";
import type { Sequence } from "../sequence.ts";
import { FEWEST_OFFLOADED } from "./host-cache.ts";
import type { HostId } from "./host-entries.ts";
import type { KvCache } from "./kv-cache.ts";

export class DiskPrefetch {
  /** Tokens that one sequence can hold. */
  private readonly capacity: number;

  constructor(
    private readonly limits: SchedulerLimits,
    private readonly kv: KvCache,
    private readonly cost: Pick<StepCost, "prefillExceeds">,
  ) {
    const { layout, cells, sequences } = limits;
    this.capacity = layout === "streams" ? Math.floor(cells / sequences) : cells;
  }

  /** Returns whether a prefix of this request is being read from disk. The disk cache is searched once per request. */
  isReading(sequence: Sequence, now: number): boolean {
    if (sequence.diskRead === undefined) sequence.diskRead = this.begin(sequence, now) ?? "none";
    return sequence.diskRead !== "none" && this.kv.disk.isReading(sequence.diskRead);
  }

  private begin(sequence: Sequence, now: number): HostId | undefined {
    const { host, disk } = this.kv;
    if (!this.limits.hasDisk || !this.limits.reuse || sequence.fresh) return undefined;
    const found = disk.find(sequence, sequence.length - 1);
    if (!found || found.entry.ids.length > this.capacity) return undefined;
    const gain = boundaryBefore(sequence.media, found.length) - this.kv.reusable(sequence, now);
    const ms = disk.readMs(found.entry) + host.restoreMs(found.entry);
    if (gain < FEWEST_OFFLOADED || !this.cost.prefillExceeds(gain, ms)) return undefined;
    return host.read(found.entry, now);
  }
}
