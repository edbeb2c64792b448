// Decides which models may be in memory together: in RAM, and on GPUs. Idle engines loaded on first use are unloaded,
// least recently used first, when the next one needs their memory. Busy engines never are; a load that cannot fit is
// refused with numbers.

import { SvcError } from "../../domain/errors.ts";
import { memorySize } from "../../domain/gib.ts";
import type { GpuClaim } from "../../domain/gpu.ts";
import { GpuMemory } from "./gpu-memory.ts";
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
  /** Bytes on GPUs that each tenant got when it was loaded last. */
  private readonly onGpus = new WeakMap<MemoryTenant, number>();
  /** The loads onto GPUs, in order; each resolves when it is over. */
  private readonly gpuLoads = new Map<MemoryTenant, PromiseWithResolvers<void>>();

  /** `available`: returns the bytes of RAM that can be taken at the moment. */
  constructor(
    private readonly available: () => number = availableMemory,
    readonly gpus = new GpuMemory(),
  ) {}

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
   * rejects with, SvcError (`engine_unavailable`) when even that does not free enough. `onGpus`: how much of it GPUs hold;
   * they have then been read just before the promise resolves.
   */
  claim(tenant: MemoryTenant, bytes: number, model: string, onGpus?: GpuClaim): Promise<void> | undefined {
    if (bytes === 0) return undefined;
    if (onGpus) return this.claimGpus(tenant, { bytes, model, onGpus });
    if (!this.turn && bytes <= this.free()) {
      this.granted.set(tenant, bytes);
      return undefined;
    }
    return this.inTurn(() => this.makeRoom(tenant, { bytes, model }));
  }

  /** Loads onto GPUs follow each other: what the one under way will still take cannot be known. */
  private claimGpus(tenant: MemoryTenant, need: Need): Promise<void> {
    const before = [...this.gpuLoads].flatMap(([other, { promise }]) => (other === tenant ? [] : [promise]));
    this.enterGpus(tenant);
    return Promise.all(before).then(() => this.inTurn(() => this.makeRoom(tenant, need)));
  }

  /** Call before a tenant that claims nothing loads onto GPUs: other loads onto them wait until it is settled. */
  enterGpus(tenant: MemoryTenant): void {
    this.settle(tenant);
    this.gpuLoads.set(tenant, Promise.withResolvers());
  }

  private inTurn(work: () => Promise<void>): Promise<void> {
    const before = this.turn ?? Promise.resolve();
    const claimed = before.then(work);
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
    this.gpuLoads.get(tenant)?.resolve();
    this.gpuLoads.delete(tenant);
  }

  private async makeRoom(tenant: MemoryTenant, need: Need): Promise<void> {
    await Promise.all([...this.tenants].map(({ leaving }) => leaving));
    if (need.onGpus) await this.gpus.read();
    const idle = [...this.tenants].filter(({ idleSince }) => idleSince !== undefined).toSorted(byUse);
    const held = idle.reduce((sum, { ownBytes }) => sum + ownBytes, 0);
    const onGpus = idle.filter((one) => this.bytesOnGpus(one) > 0);
    const heldOnGpus = onGpus.reduce((sum, one) => sum + this.bytesOnGpus(one), 0);
    if (inRam(need, this.gpus.free + heldOnGpus) <= this.free() + held) {
      // A model computes faster on GPUs than where RAM holds a part of it.
      await this.unloadWhile(() => this.gpus.free < (need.onGpus?.bytes ?? 0), onGpus, need);
      await this.unloadWhile(() => inRam(need, this.gpus.free) > this.free(), idle, need);
    }
    const bytes = inRam(need, this.gpus.free);
    const free = this.free();
    if (bytes > free) throw tooLarge(need, free, this.gpus.free);
    this.granted.set(tenant, bytes);
    this.onGpus.set(tenant, Math.min(need.onGpus?.bytes ?? 0, this.gpus.free));
  }

  private async unloadWhile(
    isNeeded: () => boolean,
    candidates: readonly MemoryTenant[],
    { onGpus }: Need,
  ): Promise<void> {
    for (const one of candidates) {
      if (!isNeeded()) return;
      // It may have received a job while others ended.
      if (one.idleSince === undefined) continue;
      await one.unload("memory");
      if (onGpus) await this.gpus.read();
    }
  }

  private bytesOnGpus(tenant: MemoryTenant): number {
    return this.onGpus.get(tenant) ?? 0;
  }

  /** Returns the bytes of RAM that are neither in use nor granted. */
  private free(): number {
    let free = this.available();
    for (const [{ ownBytes }, bytes] of this.granted) free -= Math.max(0, bytes - ownBytes);
    return Math.max(0, free);
  }
}

const byUse = (a: MemoryTenant, b: MemoryTenant) => (a.idleSince ?? 0) - (b.idleSince ?? 0);

/** What a tenant claims. */
interface Need {
  readonly bytes: number;
  readonly model: string;
  readonly onGpus?: GpuClaim;
}

/** Returns the bytes that RAM must hold when GPUs have `free` bytes; infinitely many if they must hold more than that. */
function inRam({ bytes, onGpus }: Need, free: number): number {
  if (!onGpus) return bytes;
  if (!onGpus.orHost && onGpus.bytes > free) return Infinity;
  return Math.max(0, bytes - Math.min(onGpus.bytes, free));
}

function tooLarge({ model, bytes, onGpus }: Need, free: number, freeOnGpus: number): SvcError {
  const part = onGpus && !onGpus.orHost ? `, ${memorySize(onGpus.bytes)} of it on GPUs` : "";
  const there = onGpus ? `, and ${memorySize(freeOnGpus)} on GPUs` : "";
  return new SvcError(
    "engine_unavailable",
    `The model ${model} needs at least ${memorySize(bytes)} of memory${part}; ${memorySize(free)} are free${there}.`,
    { retryAfterSeconds: RETRY_S },
  );
}
