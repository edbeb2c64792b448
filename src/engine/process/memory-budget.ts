// Which models may be in memory beside each other. Engines that are loaded on first use give way to the next one that needs their
// memory, the least recently used first; one that has work never does, and a load that cannot fit is refused with numbers.

import { SvcError } from "../../domain/errors.ts";
import { availableMemory } from "./memory.ts";

/** An engine that is loaded on first use. */
export interface MemoryTenant {
  /** Bytes that are free when its process ends. */
  readonly ownBytes: number;
  /** Since when it is loaded without a job, in monotonic milliseconds; undefined: it has one, or is not loaded. */
  readonly idleSince: number | undefined;
  /** Resolves when a process that is on its way out is gone; undefined: there is none. */
  readonly leaving?: Promise<void> | undefined;
  /** Ends the process; resolves when it is gone. */
  unload(): Promise<void>;
}

const RETRY_S = 30;

export class MemoryBudget {
  private readonly tenants = new Set<MemoryTenant>();
  /** What those that are loading have been granted. */
  private readonly granted = new Map<MemoryTenant, number>();
  /** Loads take turns: two at once would count on the same bytes. */
  private turn: Promise<void> | undefined;

  /** `available`: bytes that can be taken at the moment. */
  constructor(private readonly available: () => number = availableMemory) {}

  /** The engine gives way from now on while it is idle. */
  add(tenant: MemoryTenant): void {
    this.tenants.add(tenant);
  }

  /**
   * Called before a tenant loads a model of `bytes`; `settle` comes after it, however that ends. Undefined: there is enough
   * memory. Else a promise that resolves when there is, once idle engines have ended. Throws, or rejects with, SvcError
   * (`engine_unavailable`) when even that would not do.
   */
  claim(tenant: MemoryTenant, bytes: number, model: string): Promise<void> | undefined {
    if (bytes === 0) return undefined;
    if (!this.turn && bytes <= this.free()) {
      this.granted.set(tenant, bytes);
      return undefined;
    }
    const before = this.turn ?? Promise.resolve();
    const claimed = before.then(() => this.makeRoom(tenant, bytes, model));
    const turn = claimed
      .catch(() => {})
      .then(() => {
        if (this.turn === turn) this.turn = undefined;
      });
    this.turn = turn;
    return claimed;
  }

  /** The tenant's model is in memory, or will not be: what it was granted is not to come any more. */
  settle(tenant: MemoryTenant): void {
    this.granted.delete(tenant);
  }

  private async makeRoom(tenant: MemoryTenant, bytes: number, model: string): Promise<void> {
    await Promise.all([...this.tenants].map(({ leaving }) => leaving));
    const idle = [...this.tenants].filter(({ idleSince }) => idleSince !== undefined);
    const held = idle.reduce((sum, { ownBytes }) => sum + ownBytes, 0);
    if (bytes <= this.free() + held) {
      for (const one of idle.toSorted(byUse)) {
        if (bytes <= this.free()) break;
        // It may have got a job while others ended.
        if (one.idleSince !== undefined) await one.unload();
      }
    }
    const free = this.free();
    if (bytes > free) throw tooLarge(model, bytes, free);
    this.granted.set(tenant, bytes);
  }

  /** Bytes that nobody has or was granted. */
  private free(): number {
    let free = this.available();
    for (const [{ ownBytes }, bytes] of this.granted) free -= Math.max(0, bytes - ownBytes);
    return Math.max(0, free);
  }
}

const byUse = (a: MemoryTenant, b: MemoryTenant) => (a.idleSince ?? 0) - (b.idleSince ?? 0);

const tooLarge = (model: string, bytes: number, free: number) =>
  new SvcError(
    "engine_unavailable",
    `The model ${model} needs at least ${gigabytes(bytes)} of memory; ${gigabytes(free)} are free.`,
    { retryAfterSeconds: RETRY_S },
  );

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;
