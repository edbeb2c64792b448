// Decides which models may be in memory together. Idle engines loaded on first use are unloaded, least recently used
// first, when the next one needs their memory. Busy engines never are; a load that cannot fit is refused with numbers.

import { SvcError } from "../../domain/errors.ts";
import { memorySize } from "../../domain/gib.ts";
import { availableMemory } from "./machine.ts";

/** An engine that is loaded on first use. */
export interface MemoryTenant {
  /** Bytes that become free when its process ends. */
  readonly ownBytes: number;
  /** Since when it is loaded without a job, in monotonic milliseconds; undefined while busy or not loaded. */
  readonly idleSince: number | undefined;
  /** Resolves when the process that is now ending is gone; undefined if there is none. */
  readonly leaving?: Promise<void> | undefined;
  /** Ends the process; resolves when it is gone. */
  unload(reason: UnloadReason): Promise<void>;
}

/** Why an engine is unloaded: nobody used it for long, another one needs its memory, or its model is not offered now. */
export type UnloadReason = "idle" | "memory" | "removed";

const RETRY_S = 30;

export class MemoryBudget {
  private readonly tenants = new Set<MemoryTenant>();
  /** Bytes granted to the tenants that are loading. */
  private readonly granted = new Map<MemoryTenant, number>();
  /** Loads take turns, because two at once would count on the same bytes. */
  private turn: Promise<void> | undefined;

  /** `available`: returns the bytes that can be taken at the moment. */
  constructor(private readonly available: () => number = availableMemory) {}

  /** From now on the engine may be unloaded while it is idle. */
  add(tenant: MemoryTenant): void {
    this.tenants.add(tenant);
  }

  /** From now on the engine is neither unloaded nor waited for. */
  remove(tenant: MemoryTenant): void {
    this.tenants.delete(tenant);
  }

  /**
   * Call before a tenant loads a model of `bytes`, and `settle` afterwards, whatever the outcome. Returns undefined if
   * there is enough memory now; otherwise a promise that resolves once enough idle engines have ended. Throws, or
   * rejects with, SvcError (`engine_unavailable`) when even that does not free enough.
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

  /** Drops the tenant's grant: its model is now in memory and counted there, or will not be loaded. */
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
        // It may have received a job while others ended.
        if (one.idleSince !== undefined) await one.unload("memory");
      }
    }
    const free = this.free();
    if (bytes > free) throw tooLarge(model, bytes, free);
    this.granted.set(tenant, bytes);
  }

  /** Returns the bytes that are neither in use nor granted. */
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
    `The model ${model} needs at least ${memorySize(bytes)} of memory; ${memorySize(free)} are free.`,
    { retryAfterSeconds: RETRY_S },
  );
