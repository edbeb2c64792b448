// The host cache: idle sequences are offloaded from the KV cache to host memory, and restored from there. A sequence is
// offloaded at once if the step can wait for that, else a part in each step. Evicted entries go to the disk cache.

import { BURST_STEP_MS, type StepCost } from "../cost/step-cost.ts";
import type { SchedulerLimits } from "../limits.ts";
import { positionAt } from "../media-span.ts";
import type { DiskCache } from "./disk-cache.ts";
import { HostEntries, type Evicted, type HostId } from "./host-entries.ts";
import type { Left } from "./idle-sequences.ts";
import type { KvCommand } from "./kv-command.ts";
import type { CachedPrefix, Computed, Found, Prefix } from "./prefix-index.ts";

/** Fewer tokens than this are worth neither offloading nor restoring. */
export const FEWEST_OFFLOADED = 256;

/** Transfers per offloaded token: one to offload it and one to restore it later. */
const TRANSFERS = 2;

export class HostCache {
  /** Tokens offloaded so far. */
  offloaded = 0;
  /** Tokens restored so far. */
  restored = 0;
  /** How long one transfer may delay the current step, in milliseconds. */
  private transferMs = Number.POSITIVE_INFINITY;
  /** How long all transfers of preempted requests together may delay the current step, in milliseconds. */
  private preemptedMs = BURST_STEP_MS;
  private readonly entries: HostEntries;
  private restoring: HostId | undefined;
  /** The sequence that is being offloaded in parts, and how many of its tokens are offloaded already. */
  private offloading:
    { readonly id: number; readonly length: number; readonly hostId: HostId; done: number } | undefined;

  constructor(
    private readonly limits: SchedulerLimits,
    private readonly cost: Pick<StepCost, "prefillExceeds">,
    private readonly disk: DiskCache,
    private readonly command: (command: KvCommand) => void,
  ) {
    this.entries = new HostEntries(limits.hostBytes, limits.tokenBytes, limits.canTrim);
  }

  /** Tokens in the cache. */
  get tokens(): number {
    return this.entries.tokens;
  }

  /** Whether a sequence is being offloaded in parts. */
  get isOffloading(): boolean {
    return this.offloading !== undefined;
  }

  /** Milliseconds to offload and later restore one token. */
  get roundTripTokenMs(): number {
    return TRANSFERS * this.limits.offloadTokenMs;
  }

  /** Begins a step that each transfer may delay by `transferMs` milliseconds. */
  beginStep(transferMs: number): void {
    this.transferMs = transferMs;
    this.preemptedMs = BURST_STEP_MS;
  }

  /**
   * Returns whether `tokens` tokens can be offloaded within the current step. The tokens of a preempted request will
   * certainly be used again, so streams wait longer for them, unless recomputing them is faster.
   */
  affords(tokens: number, resumes = false): boolean {
    const ms = tokens * this.limits.offloadTokenMs;
    const pays = resumes && this.cost.prefillExceeds(tokens, TRANSFERS * ms);
    return this.limits.hostBytes > 0 && (ms <= this.transferMs || (pays && ms <= this.preemptedMs));
  }

  /** Returns whether the cache is large enough for `tokens` tokens. */
  fits(tokens: number): boolean {
    return this.limits.hostBytes > 0 && this.entries.fits(tokens);
  }

  /** Offloads a whole sequence, whose id is that in the KV cache; returns whether the cache holds it now. */
  offload(sequence: Evicted, now: number): boolean {
    const { length } = sequence.ids;
    const resumes = sequence.owner?.preempted;
    if (!this.affords(length, resumes)) return false;
    if (!this.entries.wants(sequence)) return this.entries.fits(length);
    const hostId = this.add(sequence, now);
    if (hostId === undefined) return false;
    this.command({ type: "offload", sequence: sequence.id, hostId, from: 0, to: -1 });
    this.entries.complete(hostId);
    this.offloaded += length;
    if (resumes) this.preemptedMs -= length * this.limits.offloadTokenMs;
    return true;
  }

  /** Starts offloading a sequence without media in parts. Returns true if the cache holds all of it already. */
  beginOffload(sequence: Evicted, now: number): boolean {
    const { length } = sequence.ids;
    if (!this.entries.wants(sequence)) return this.entries.fits(length);
    const hostId = this.add(sequence, now);
    if (hostId !== undefined) this.offloading = { id: sequence.id, length, hostId, done: 0 };
    return false;
  }

  /** Offloads the next part; returns the sequence id if that was its last part, else undefined. */
  continueOffload(): number | undefined {
    const { offloading } = this;
    if (!offloading) return undefined;
    const part = Math.max(FEWEST_OFFLOADED, Math.floor(this.transferMs / this.limits.offloadTokenMs));
    const { id, hostId, length, done: from } = offloading;
    offloading.done = Math.min(length, from + part);
    const complete = offloading.done === length;
    this.command({ type: "offload", sequence: id, hostId, from, to: complete ? -1 : offloading.done });
    if (!complete) return undefined;
    this.entries.complete(hostId);
    this.offloaded += length;
    this.offloading = undefined;
    return id;
  }

  /** Drops the parts of a sequence that were offloaded: it changes or is removed, so they are useless. */
  cancelOffload(id: number): void {
    if (this.offloading?.id !== id) return;
    this.drop(this.offloading.hostId);
    this.offloading = undefined;
  }

  /** Records that the engine wrote `bytes` more bytes of an entry; evicts others if the cache is now too full. */
  wrote(hostId: HostId, bytes: number, now: number): void {
    for (const evicted of this.entries.wrote(hostId, bytes, now, this.pinned)) this.disk.take(evicted);
  }

  /** Returns the entry that shares most of the first `limit` tokens; `whole`: only an entry that matches to its end. */
  find(wanted: Computed, limit: number, whole: boolean): Found | undefined {
    return this.entries.find(wanted, limit, whole);
  }

  /** Returns the milliseconds to restore an entry. */
  restoreMs({ ids }: Computed): number {
    return ids.length * this.limits.offloadTokenMs;
  }

  /** Restores the first `length` tokens into the sequence whose id `place` returns; `place` may offload others. */
  restore(entry: CachedPrefix, length: number, now: number, place: () => number): number {
    this.restoring = entry.id;
    const sequence = place();
    this.restoring = undefined;
    this.entries.used(entry.id, now);
    this.restored += length;
    this.command({ type: "restore", sequence, hostId: entry.id });
    if (entry.ids.length > length) {
      this.command({ type: "trim", sequence, position: positionAt(entry.media, length) });
    }
    return sequence;
  }

  /** Drops an entry that could not be restored, here and on disk: restoring it would fail again. */
  restoreFailed(hostId: HostId): void {
    const entry = this.entries.get(hostId);
    if (!entry) return;
    this.drop(hostId);
    this.disk.forget(entry);
  }

  /** Drops the entries that are prefixes of these tokens, and the file of exactly these tokens, unless `isKept`. */
  forget(prefix: Computed, isKept: (cached: Computed) => boolean): void {
    for (const entry of this.entries.prefixesOf(prefix)) {
      if (!this.pinned.includes(entry.id) && !isKept(entry)) this.drop(entry.id);
    }
    if (!isKept(prefix)) this.disk.forget(prefix);
  }

  /** Returns an id for a state that passes through host memory without an entry. */
  newId(): HostId {
    return this.entries.newId();
  }

  /** Starts reading an entry of the disk cache; returns the id of its entry here, or undefined when it does not fit. */
  read(entry: CachedPrefix, now: number): HostId | undefined {
    const place = this.disk.placeOf(entry.id);
    if (place !== undefined) return place;
    const hostId = this.add({ ...entry, at: now }, now);
    if (hostId !== undefined) this.disk.read(entry, hostId);
    return hostId;
  }

  /** Records that the engine has read an entry of `bytes` bytes from disk; undefined: the entry could not be read. */
  readEnded(hostId: HostId, bytes: number | undefined, now: number): void {
    const done = bytes !== undefined;
    this.disk.readEnded(hostId, done);
    if (!done) return this.drop(hostId);
    this.entries.complete(hostId);
    this.wrote(hostId, bytes, now);
  }

  /** Moves a sequence of the KV cache straight to disk if that is worth it; returns whether it is being written. */
  writeSequence(sequence: Evicted): boolean {
    if (!this.disk.wants(sequence)) return false;
    const hostId = this.newId();
    this.command({ type: "offload", sequence: sequence.id, hostId, from: 0, to: -1 });
    return this.disk.take({ ...sequence, id: hostId });
  }

  /**
   * Goes through the entries, the best first: drops those not worth a file and moves the first that is to disk. Returns
   * false when none was.
   */
  writeNext(now: number): boolean {
    for (;;) {
      const best = this.entries.takeBest(now);
      if (!best) return false;
      if (this.disk.take(best)) return true;
    }
  }

  private add(sequence: Prefix & Partial<Left>, now: number): HostId | undefined {
    const added = this.entries.add(sequence, now, this.pinned);
    for (const { id: hostId } of added?.replaced ?? []) this.command({ type: "drop", hostId });
    for (const evicted of added?.evicted ?? []) this.disk.take(evicted);
    return added?.id;
  }

  /** Entries that are being transferred. */
  private get pinned(): readonly (HostId | undefined)[] {
    return [this.restoring, this.offloading?.hostId, ...this.disk.reading];
  }

  private drop(hostId: HostId): void {
    this.entries.remove(hostId);
    this.command({ type: "drop", hostId });
  }
}
