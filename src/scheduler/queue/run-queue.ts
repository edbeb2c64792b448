// Which requests run: those that wait are admitted by turns as the KV cache has room, and make room for others again.

import { nobodyWaits, type Waiting, type WaitReason } from "../../domain/waiting.ts";
import { DiskLoads } from "../kv/disk-prefetch.ts";
import { FairQueue } from "./fair-queue.ts";
import type { KvCache, KvLimits } from "../kv/kv-cache.ts";
import type { Sequence } from "../sequence.ts";
import type { StepCost } from "../cost/step-cost.ts";
import { victimFor, yieldingTo } from "./preemption.ts";

export interface AdmissionLimits extends KvLimits {
  /** Requests that may run at once. */
  readonly parallel: number;
}

/** Cells kept free for the growth of each running request when the next one is admitted. */
const HEADROOM = 32;
/** A request waits for a prompt that is being computed when it saves at least so many tokens by that. */
const WORTH_WAITING = 32;

export class Admission {
  readonly queue = new FairQueue();
  /** In order of admission: the last one is the newest. */
  readonly running: Sequence[] = [];
  private readonly loads: DiskLoads;
  private preemptionCount = 0;

  constructor(
    private readonly limits: AdmissionLimits,
    private readonly kv: KvCache,
    cost: StepCost,
    /** A request stops running; it has its sequence id yet. */
    private readonly stopping: (sequence: Sequence) => void,
  ) {
    this.loads = new DiskLoads(limits, kv, cost);
  }

  /** Times that a running request made room for others. */
  get preemptions(): number {
    return this.preemptionCount;
  }

  /** As many requests run as may. */
  get isFull(): boolean {
    return this.running.length >= this.limits.parallel;
  }

  /** Those that wait, by what for. */
  waiting(now: number): Waiting {
    if (this.queue.size === 0) return nobodyWaits;
    const order = this.queue.inOrder();
    const next = order.find((sequence) => !awaitsPrefix(sequence));
    const missing = this.isFull ? "sequence" : next && this.fits(next, now) ? "step" : "cells";
    const count = { ...nobodyWaits } as Record<WaitReason, number>;
    for (const sequence of order) {
      if (awaitsPrefix(sequence)) count.prefix++;
      else count[next && sequence.client !== next.client && sequence.key < next.key ? "turn" : missing]++;
    }
    return count;
  }

  /** Whether a request that comes now waits for another one to end: in time, one that yields or has had its turn makes room. */
  waitsForEnd(sequence: Sequence): boolean {
    return this.isFull && !victimFor(sequence, this.running, Number.POSITIVE_INFINITY);
  }

  /** Starts what waits, as far as there is room. */
  admit(now: number): void {
    while (this.queue.size > 0) {
      const next = this.queue
        .inOrder()
        .find((sequence) => !this.waitsForLeader(sequence, now) && !this.waitsForDisk(sequence, now));
      if (!next) return;
      const { isFull } = this;
      const victim = isFull ? victimFor(next, this.running, now) : undefined;
      if (isFull && !victim) return;
      if (!this.fits(next, now)) {
        const yielding = yieldingTo(next, this.running);
        if (!yielding) return;
        this.preempt(yielding, now, true);
        continue;
      }
      if (victim) this.preempt(victim, now, true);
      this.queue.take(next);
      this.kv.acquire(next, now);
      next.preempted = false;
      next.cached ??= next.computed;
      next.admittedAt = now;
      this.queue.charge(next.client, next.remaining, 0);
      this.running.push(next);
    }
  }

  /** Somebody computes at this moment what this request begins with: with that it will have less to do. */
  private waitsForLeader(sequence: Sequence, now: number): boolean {
    if (!this.limits.reuse || !this.limits.cut) return false;
    if (awaitsPrefix(sequence)) return true;
    sequence.awaits = undefined;
    let length = this.kv.reusable(sequence, now).tokens + WORTH_WAITING;
    for (const leader of this.running) {
      // Nobody waits for what yields to him.
      if (leader.decoding || (leader.background && !sequence.background)) continue;
      const shared = leader.sharedWith(sequence, sequence.length - 1);
      if (shared < length || shared <= leader.computed || !this.kv.copyPays(shared)) continue;
      sequence.awaits = { leader, length: shared };
      length = shared;
    }
    return sequence.awaits !== undefined;
  }

  /** Its beginning is being read from disk. A request that was computed once has what it needs nearer. */
  private waitsForDisk(sequence: Sequence, now: number): boolean {
    return sequence.cached === undefined && this.loads.awaitedBy(sequence, now);
  }

  /** Whether the cache has room for a request beside the running ones and their growth. */
  private fits(sequence: Sequence, now: number): boolean {
    if (this.limits.layout === "streams" || this.running.length === 0) return true;
    const pending = this.running.reduce((sum, other) => sum + needs(other), 0);
    const { cells } = this.kv.reusable(sequence, now);
    return this.kv.runningCells + pending + needs(sequence) - cells <= this.limits.cells;
  }

  /** Gives back the room of the newest request, of the newest background one where there is any. False if it is alone. */
  preemptNewest(now: number): boolean {
    const newest = this.running.findLast(({ background }) => background) ?? this.running.at(-1);
    if (!newest || this.running.length === 1) return false;
    this.preempt(newest, now, false);
    return true;
  }

  /** Forgets a request, wherever it is. */
  remove(sequence: Sequence, now: number): void {
    if (!this.queue.take(sequence)) this.stop(sequence, now, true);
    this.queue.forget(sequence);
    sequence.preempted = false;
  }

  /** `keep`: its tokens may stay in the cache, so that little is to be computed again. */
  private preempt(sequence: Sequence, now: number, keep: boolean): void {
    sequence.preempted = true;
    this.stop(sequence, now, keep);
    sequence.computed = 0;
    this.queue.putBack(sequence);
    this.preemptionCount++;
  }

  private stop(sequence: Sequence, now: number, keep: boolean): void {
    this.stopping(sequence);
    this.running.splice(this.running.indexOf(sequence), 1);
    this.kv.release(sequence, now, keep);
  }
}

/** What it waits for is still being computed. */
const awaitsPrefix = ({ awaits }: Sequence): boolean =>
  awaits !== undefined && awaits.leader.running && awaits.leader.computed < awaits.length;

/** Cells that a request will take beyond those that it has. */
const needs = (sequence: Sequence): number =>
  sequence.remaining + Math.min(sequence.maxTokens - sequence.generated, HEADROOM);
