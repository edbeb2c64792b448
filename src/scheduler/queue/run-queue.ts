// The run queue: waiting requests are admitted, client by client, while the KV cache has free cells; running requests
// are preempted when others need their cells.

import { nobodyWaits, type Waiting, type WaitReason } from "../../domain/waiting.ts";
import type { StepCost } from "../cost/step-cost.ts";
import { FEWEST_OFFLOADED } from "../kv/host-cache.ts";
import type { HostId } from "../kv/host-entries.ts";
import type { KvCache } from "../kv/kv-cache.ts";
import type { SchedulerLimits } from "../limits.ts";
import { boundaryBefore } from "../media-span.ts";
import { sharesCells } from "../../domain/kv-layout.ts";
import type { Sequence } from "../sequence.ts";
import { FairQueue } from "./fair-queue.ts";
import { dispensable, victimFor } from "./preemption.ts";

/** Cells kept free for the growth of each running request when the next one is admitted. */
const HEADROOM = 32;
/** A request waits for a prompt that is being computed if that saves it at least this many tokens. */
const WORTH_WAITING = 32;

export class RunQueue {
  readonly waiting = new FairQueue();
  /** Running requests in the order of admission: the last is the newest. */
  readonly running: Sequence[] = [];
  /** Preemptions so far. */
  preemptions = 0;

  constructor(
    private readonly limits: SchedulerLimits,
    private readonly kv: KvCache,
    private readonly cost: Pick<StepCost, "prefillExceeds">,
    /** Called before a request stops running, while the request still has its sequence id. */
    private readonly stopping: (sequence: Sequence) => void,
  ) {}

  /** Running requests that decode, whatever their adapters. */
  get streams(): Sequence[] {
    return this.running.filter((sequence) => sequence.decoding);
  }

  /** Whether as many requests run as may run at once. */
  get isFull(): boolean {
    return this.running.length >= this.limits.parallel;
  }

  /** Returns how many requests wait, by what they wait for. */
  waitingFor(now: number): Waiting {
    if (this.waiting.size === 0) return nobodyWaits;
    const order = this.waiting.inOrder();
    const next = order.find((sequence) => !awaitsPrefix(sequence));
    const missing = this.isFull ? "sequence" : next && this.fits(next, this.running, now) ? "step" : "cells";
    const count = { ...nobodyWaits } as Record<WaitReason, number>;
    for (const sequence of order) {
      if (awaitsPrefix(sequence)) count.prefix++;
      else count[next && sequence.client !== next.client && sequence.key < next.key ? "turn" : missing]++;
    }
    return count;
  }

  /** Returns whether a new request would wait until another ends, because none can be preempted for it. */
  waitsForEnd(sequence: Sequence): boolean {
    return this.isFull && !victimFor(sequence, this.running, Number.POSITIVE_INFINITY);
  }

  /** Admits waiting requests while there are free sequences and cells for them. */
  admit(now: number): void {
    while (this.waiting.size > 0) {
      const next = this.waiting
        .inOrder()
        .find((sequence) => !this.waitsForLeader(sequence, now) && !this.waitsForDisk(sequence, now));
      if (!next) return;
      if (!this.makeRoom(next, now)) return;
      this.waiting.take(next);
      this.kv.acquire(next, now);
      next.preempted = false;
      next.cached ??= next.computed;
      next.admittedAt = now;
      this.waiting.charge(next.client, next.uncomputed, 0);
      this.running.push(next);
    }
  }

  /** Returns whether another request is computing a prefix of this one: afterwards less is left to compute. */
  private waitsForLeader(sequence: Sequence, now: number): boolean {
    if (!this.limits.reuse || !this.limits.canTrim || sequence.fresh) return false;
    if (awaitsPrefix(sequence)) return true;
    sequence.awaits = undefined;
    let length = this.kv.reusable(sequence, now) + WORTH_WAITING;
    for (const leader of this.running) {
      // A background request yields to this request, so this request does not wait for it.
      if (leader.decoding || (leader.background && !sequence.background)) continue;
      const shared = leader.sharedWith(sequence, sequence.length - 1);
      if (shared < length || shared <= leader.computed || !this.kv.copyPays(shared)) continue;
      sequence.awaits = { leader, length: shared };
      length = shared;
    }
    return sequence.awaits !== undefined;
  }

  /** Returns whether a prefix is being read from disk. Preempted requests' tokens are in a faster cache, if in any. */
  private waitsForDisk(sequence: Sequence, now: number): boolean {
    if (sequence.cached !== undefined) return false;
    // The disk cache is searched once for each request.
    sequence.diskRead ??= this.readFromDisk(sequence, now) ?? "none";
    return sequence.diskRead !== "none" && this.kv.disk.isReading(sequence.diskRead);
  }

  /** Begins to read a prefix from disk if that is faster than computing it; returns the id of its entry. */
  private readFromDisk(sequence: Sequence, now: number): HostId | undefined {
    const { host, disk } = this.kv;
    const { hasDisk, reuse, layout, cells, sequences } = this.limits;
    if (!hasDisk || !reuse || sequence.fresh) return undefined;
    const found = disk.find(sequence, sequence.length - 1);
    const capacity = sharesCells(layout) ? cells : Math.floor(cells / sequences);
    if (!found || found.entry.ids.length > capacity) return undefined;
    const gain = boundaryBefore(sequence.media, found.length) - this.kv.reusable(sequence, now);
    const ms = disk.readMs(found.entry) + host.restoreMs(found.entry);
    if (gain < FEWEST_OFFLOADED || !this.cost.prefillExceeds(gain, ms)) return undefined;
    return host.read(found.entry, now);
  }

  /** Returns whether the cache has enough cells for a request beside these running requests and their growth. */
  private fits(sequence: Sequence, running: readonly Sequence[], now: number): boolean {
    if (!sharesCells(this.limits.layout) || running.length === 0) return true;
    const pending = [...running, sequence].reduce((sum, other) => sum + needs(other), 0);
    return this.kv.cellsBeside(sequence, running, now) + pending <= this.limits.cells;
  }

  /**
   * Makes a sequence and cells free for a waiting request; returns whether they are. Preempts requests only if that is
   * enough.
   */
  private makeRoom(next: Sequence, now: number): boolean {
    const kept = [...this.running];
    const victims: Sequence[] = [];
    while (kept.length >= this.limits.parallel || !this.fits(next, kept, now)) {
      const victim = victimFor(next, kept, now);
      if (!victim) return false;
      kept.splice(kept.indexOf(victim), 1);
      victims.push(victim);
    }
    for (const victim of victims) this.preempt(victim, now, true);
    return true;
  }

  /**
   * Preempts a request because the cells that it and the others need are not there; `keep` as for `preempt`. Returns
   * false if only one runs.
   */
  preemptOne(now: number, keep: boolean): boolean {
    const victim = this.running.length > 1 ? dispensable(this.running) : undefined;
    if (victim) this.preempt(victim, now, keep);
    return victim !== undefined;
  }

  /** Forgets a waiting or running request. */
  remove(sequence: Sequence, now: number): void {
    if (!this.waiting.take(sequence)) this.stop(sequence, now, true);
    this.waiting.forget(sequence);
    sequence.preempted = false;
  }

  /** Preempts a request; `keep`: its tokens may stay in the cache, so that little has to be computed again. */
  private preempt(sequence: Sequence, now: number, keep: boolean): void {
    sequence.preempted = true;
    this.stop(sequence, now, keep);
    sequence.computed = 0;
    this.waiting.putBack(sequence);
    this.preemptions++;
  }

  private stop(sequence: Sequence, now: number, keep: boolean): void {
    this.stopping(sequence);
    this.running.splice(this.running.indexOf(sequence), 1);
    this.kv.release(sequence, now, keep);
  }
}

/** Returns whether the prefix that a request waits for is still being computed. */
const awaitsPrefix = ({ awaits }: Sequence): boolean =>
  awaits !== undefined && awaits.leader.running && awaits.leader.computed < awaits.length;

/** Returns how many more cells a request needs than it has. */
const needs = (sequence: Sequence): number => sequence.uncomputed + Math.min(sequence.mostLeft, HEADROOM);
