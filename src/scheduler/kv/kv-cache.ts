// What the KV cache holds, for running requests and for later ones with the same prefix. Decides which sequence a
// request continues, which is copied and which is evicted, and issues the commands for the native library. Two more
// tiers are below it: the host cache in memory and the disk cache.

import type { CellsInUse, StepCost } from "../cost/step-cost.ts";
import type { SchedulerLimits } from "../limits.ts";
import { boundaryBefore, positionAt } from "../media-span.ts";
import type { Sequence } from "../sequence.ts";
import { DiskCache } from "./disk-cache.ts";
import { FEWEST_OFFLOADED, HostCache } from "./host-cache.ts";
import type { Evicted, HostId } from "./host-entries.ts";
import { IdleSequences, isPassing, staleness } from "./idle-sequences.ts";
import type { KvCommand } from "./kv-command.ts";
import { liesApart, sharesCells } from "../../domain/kv-layout.ts";
import { isPrefix, type CachedPrefix, type Computed, type Prefix } from "./prefix-index.ts";
import { PrefixTree, type Holder } from "./prefix-tree.ts";
import { SequenceIds } from "./sequence-ids.ts";

/** A prefix of a request that another sequence holds: the request takes that sequence over, or gets a copy. */
interface Resident {
  readonly how: "take over" | "copy";
  readonly length: number;
  readonly holder: Holder;
}

/** How a request reuses tokens that were computed before. */
type Reuse = Resident | { readonly how: "restore"; readonly length: number; readonly entry: CachedPrefix };

/** Fewer shared tokens than this are not worth reusing. */
const FEWEST_SHARED = 16;
/** At least this many cells are freed at a time, so that freeing is not needed in every step. */
const TRIM_GRAIN = 64;

export class KvCache {
  /** Tokens of idle sequences evicted so far. */
  evictedTokens = 0;
  readonly disk: DiskCache;
  readonly host: HostCache;
  private readonly tree = new PrefixTree();
  private readonly idle = new IdleSequences();
  /** How many requests used each running sequence before, by sequence id. */
  private readonly running = new Map<number, number>();
  private readonly ids: SequenceIds;
  private commands: KvCommand[] = [];
  /** Cells of the chunk that is being computed in slices: its tokens do not count as computed yet. */
  private reserved = 0;

  constructor(
    private readonly limits: SchedulerLimits,
    private readonly cost: Pick<StepCost, "prefillExceeds">,
  ) {
    const command = (next: KvCommand) => void this.commands.push(next);
    this.disk = new DiskCache(limits, command);
    this.host = new HostCache(limits, cost, this.disk, command);
    this.ids = new SequenceIds(limits, this.tree, this.idle, this.running, this.host);
  }

  /** Cells that hold tokens. */
  get cells(): number {
    return this.tree.cells + this.reserved;
  }

  /** Cells that running requests need. */
  get runningCells(): number {
    return this.tree.cellsOf((id) => !this.idle.has(id)) + this.reserved;
  }

  /** Cells that hold only tokens of idle sequences, kept for later requests. */
  get idleCells(): number {
    return this.cells - this.runningCells;
  }

  /** Cells of running requests, and idle cells. */
  get inUse(): CellsInUse {
    const { runningCells: running } = this;
    return { running, idle: this.cells - running };
  }

  /** Returns the commands for the native library to carry out before the next decode call; each is returned once. */
  takeCommands(): readonly KvCommand[] {
    const { commands } = this;
    if (commands.length > 0) this.commands = [];
    return commands;
  }

  /** Returns how many tokens of a request need not be computed. */
  reusable(sequence: Sequence, now: number): number {
    return this.find(sequence, now)?.length ?? 0;
  }

  /** Returns what now holds the first `length` computed tokens of a running request: the same for all that share them. */
  holderOf(sequence: Sequence, length: number): object | undefined {
    return sequence.computed < length ? undefined : this.tree.nodeAt(sequence.id, length - 1);
  }

  /** Returns how many of their first computed tokens two running requests share. */
  common(a: Sequence, b: Sequence): number {
    return Math.min(a.computed, b.computed, this.tree.common(a.id, b.id));
  }

  /** Returns how many cells these running requests hold, without those that a waiting one would share with them. */
  cellsBeside(sequence: Sequence, running: readonly Sequence[], now: number): number {
    const ids = new Set(running.map(({ id }) => id));
    const holds = (id: number) => ids.has(id);
    const reuse = this.find(sequence, now);
    const resident = reuse?.how === "restore" ? undefined : reuse;
    return (
      this.tree.cellsOf(holds) - (resident ? this.tree.sharedLength(resident.holder.id, resident.length, holds) : 0)
    );
  }

  /** Returns whether copying `length` tokens is faster than computing them. */
  copyPays(length: number): boolean {
    return this.limits.layout !== "streams" || this.cost.prefillExceeds(length, this.limits.copyMs);
  }

  /** Gives a request a sequence id, with as many of its tokens as are cached. Throws when every sequence is running. */
  acquire(sequence: Sequence, now: number): void {
    const reuse = this.find(sequence, now);
    const resident = reuse?.how === "restore" ? undefined : reuse;
    const uses = resident ? this.usesOf(resident.holder.id) + 1 : 0;
    // What a background request leaves is lost first, and with it the conversation if it holds nearly all of that.
    const takesAll = resident && resident.holder.length - resident.length < FEWEST_OFFLOADED;
    if (takesAll && this.borrows(sequence, resident.holder)) this.offload(resident.holder.id, now);
    if (!reuse) sequence.id = this.freeId(sequence.adapterKey, now);
    else if (reuse.how === "restore") sequence.id = this.restore(reuse.entry, reuse.length, now);
    else sequence.id = reuse.how === "copy" ? this.fork(reuse, sequence, now) : this.takeOver(reuse, sequence, now);
    if (!this.tree.has(sequence.id)) this.tree.add(sequence.id, sequence.adapterKey);
    sequence.computed = reuse?.length ?? 0;
    this.extend(sequence);
    this.running.set(sequence.id, uses);
  }

  /**
   * Exchanges the ids of running requests, of which nothing is computed yet, so that those of each adapter set ascend in
   * this order: where sequences lie apart, the first that decode then lie side by side.
   */
  arrange(sequences: readonly Sequence[]): void {
    if (!liesApart(this.limits.layout)) return;
    for (const alike of Map.groupBy(sequences, ({ adapterKey }) => adapterKey).values()) {
      const ids = alike.map(({ id }) => id).toSorted((a, b) => a - b);
      for (const [at, sequence] of alike.entries()) sequence.id = ids[at] ?? sequence.id;
    }
  }

  /** Whether a running request has this id. */
  isRunning(id: number): boolean {
    return this.running.has(id);
  }

  /** Gives a running request, and its cells, another id, which no running request has. An idle sequence makes place. */
  relocate(sequence: Sequence, to: number, now: number): void {
    const { id: from } = sequence;
    const spare = this.ids.unused() ?? this.ids.leastValuable(now);
    if (spare !== undefined && this.idle.has(spare)) this.lose(spare, now);
    if (this.idle.has(to)) this.moveIdle(to);
    this.move(from, to);
    this.running.set(to, this.usesOf(from));
    this.running.delete(from);
    sequence.id = to;
  }

  /** Records that more of a running request's tokens are in the cache. */
  extend(sequence: Sequence): void {
    this.tree.extend(sequence.id, sequence.ids, sequence.computed);
  }

  /** Records that the cells after a request's computed tokens were cleared: a step was aborted or a restore failed. */
  noteCleared(sequence: Sequence): void {
    this.tree.trim(sequence.id, sequence.computed);
  }

  /** Clears the rejected speculative tokens after a request's computed ones. */
  clearRejected(sequence: Sequence): void {
    const position = positionAt(sequence.media, sequence.computed);
    this.commands.push({ type: "trim", sequence: sequence.id, position });
  }

  /** Clears the tokens of a running request after its computed ones, which are fewer than before. */
  cut({ id, media, computed }: Sequence): void {
    this.clear(id, computed, positionAt(media, computed));
  }

  /** Reserves cells for a chunk until it is done or abandoned. The caller must have freed them before. */
  reserve(cells: number): void {
    this.reserved = cells;
  }

  /** Abandons the chunk before its end. */
  abandon(): void {
    this.reserved = 0;
    this.commands.push({ type: "abandon" });
  }

  /** Makes the sequence of a request idle; `keep`: its cells stay until others need them, else they are freed. */
  release(sequence: Sequence, now: number, keep: boolean): void {
    const { id, media, preempted, background } = sequence;
    const uses = this.running.get(id) ?? 0;
    this.running.delete(id);
    sequence.id = -1;
    const worth = this.limits.reuse && keep && this.tree.lengthOf(id) >= FEWEST_SHARED;
    this.idle.set(id, { media, at: now, uses, passing: background, ...(preempted && { owner: sequence }) });
    // A sequence without exclusive cells is held by others in full.
    if (!worth || this.tree.exclusive(id) === 0) this.drop(id);
  }

  /** Evicts idle cells until `needed` cells are free; returns false when running requests hold too many. */
  ensureFree(needed: number, now: number): boolean {
    if (!sharesCells(this.limits.layout)) return true;
    for (;;) {
      const missing = this.cells + needed - this.limits.cells;
      if (missing <= 0) return true;
      // All cells are worth the same: each one saves computing one token.
      const id = this.idle.leastValuable(now, () => 1);
      if (id === undefined) return false;
      this.makeSmaller(id, Math.max(missing, TRIM_GRAIN), now);
    }
  }

  /** Offloads idle cells beyond `limit`, a part in each step: idle cells slow down every step of a unified cache. */
  offloadBeyond(limit: number, now: number): void {
    if (!this.canOffload) return;
    if (!this.host.isOffloading && this.idleCells > limit) this.beginOffload(now);
    const offloaded = this.host.continueOffload();
    if (offloaded !== undefined) this.evict(offloaded);
  }

  /**
   * Offloads idle cells beyond `limit` at once, before a prompt that no stream waits for. With `evictsShort`, sequences
   * that are too short to offload are evicted; otherwise they stay.
   */
  clearBeyond(limit: number, now: number, evictsShort: boolean): void {
    if (!this.canOffload) return;
    const fewest = evictsShort ? 1 : FEWEST_OFFLOADED;
    const { runningCells } = this;
    while (this.cells - runningCells > limit) {
      const id = this.idle.leastValuable(now, (one) => Number(this.tree.exclusive(one) >= fewest));
      if (id === undefined) return;
      if (!this.isPassing(id) && this.tree.exclusive(id) >= FEWEST_OFFLOADED && !this.offload(id, now)) return;
      this.evict(id);
    }
  }

  /** Whether a sequence id is available, because not all sequences are running. */
  get hasPlace(): boolean {
    return this.running.size < this.limits.sequences;
  }

  /**
   * Copies the cached tokens of a request to host memory without an entry and returns the id of that copy; undefined:
   * nothing is cached. The tokens stay cached. `sequence` is not run; its `computed` is then the number of copied
   * tokens. Requires `hasPlace`.
   */
  save(sequence: Sequence, now: number): HostId | undefined {
    if (this.reusable(sequence, now) === 0) return undefined;
    this.acquire(sequence, now);
    const hostId = this.host.newId();
    this.commands.push({ type: "offload", sequence: sequence.id, hostId, from: 0, to: -1 });
    this.release(sequence, now, true);
    return hostId;
  }

  /**
   * Restores a state in host memory without an entry as an idle sequence, unless an idle sequence with exactly these
   * tokens exists. Returns false while running requests leave too few cells or no sequence id.
   */
  adopt({ ids, adapterKey, media }: Prefix, hostId: HostId, now: number): boolean {
    const { length } = ids;
    const isIdle = (id: number) => this.idle.has(id);
    const known = this.tree.matchWhole(adapterKey, ids, length, isIdle);
    const [holder] = known.length === length ? known.holders : [];
    if (holder) {
      this.idle.use(holder.id, now);
      return true;
    }
    if (!this.hasPlace || !this.ensureFree(length, now)) return false;
    const id = this.freeId(adapterKey, now);
    this.commands.push({ type: "restore", sequence: id, hostId });
    this.tree.add(id, adapterKey);
    this.tree.extend(id, ids, length);
    this.idle.set(id, { media, at: now, uses: 0 });
    return true;
  }

  /** Drops what any tier caches of these tokens and no others. `keptOf`: how many of the first tokens must stay. */
  forget(prefix: Prefix, keptOf: (cached: Computed) => number): void {
    const { canTrim } = this.limits;
    for (const [id, { media }] of this.idle) {
      const cached = { ids: this.tree.tokensOf(id), adapterKey: this.tree.adapterKeyOf(id) };
      const length = boundaryBefore(media, keptOf(cached));
      if (!isPrefix(cached, prefix) || length === cached.ids.length) continue;
      this.host.cancelOffload(id);
      if (canTrim && length >= FEWEST_SHARED) this.evictAfter(id, length, positionAt(media, length));
      else this.drop(id);
    }
    this.host.forget(prefix, (cached) => keptOf(cached) === cached.ids.length);
  }

  /** Drops an idle sequence whose state could not be restored. */
  lost(id: number): void {
    if (this.idle.has(id)) this.drop(id);
  }

  /** Moves the best idle sequence, else host cache entry, to disk if worth it; returns false when none is left. */
  writeNext(now: number): boolean {
    for (;;) {
      const [best] = [...this.idle].toSorted(([, a], [, b]) => staleness(a, now) - staleness(b, now));
      if (!best) return this.host.writeNext(now);
      const writes = this.host.writeSequence(this.offloadable(best[0]));
      this.drop(best[0]);
      if (writes) return true;
    }
  }

  /** Whether the host cache holds at least as much as this one: only then are its evictions staler than those here. */
  private get canOffload(): boolean {
    return this.limits.layout === "unified" && this.host.fits(this.limits.cells);
  }

  private beginOffload(now: number): void {
    // A medium may take fewer positions than tokens, so sequences with media are offloaded as a whole or not at all.
    const plain = (id: number) => this.idle.get(id)?.media.length === 0;
    const worth = (id: number) => (plain(id) && this.tree.exclusive(id) >= FEWEST_OFFLOADED ? 1 : 0);
    const id = this.idle.leastValuable(now, worth);
    if (id === undefined) return;
    if (this.isPassing(id)) return this.evict(id);
    // A state that cannot be trimmed cannot be offloaded in parts.
    const done = this.limits.canTrim ? this.host.beginOffload(this.offloadable(id), now) : this.offload(id, now);
    if (done) this.evict(id);
  }

  private find(sequence: Sequence, now: number): Reuse | undefined {
    const { reuse, canTrim, layout, cells } = this.limits;
    if (!reuse || sequence.fresh) return undefined;
    const resident = this.findResident(sequence, now);
    const found = this.host.find(sequence, sequence.length - 1, !canTrim);
    if (!found) return resident;
    const length = boundaryBefore(sequence.media, found.length);
    if (length < found.length && !canTrim) return resident;
    const gain = length - (resident?.length ?? 0);
    const worth = this.cost.prefillExceeds(gain, this.host.restoreMs(found.entry));
    const fits = !sharesCells(layout) || this.runningCells + found.entry.ids.length <= cells;
    return gain >= FEWEST_OFFLOADED && worth && fits ? { how: "restore", length, entry: found.entry } : resident;
  }

  private findResident(sequence: Sequence, now: number): Resident | undefined {
    const { canTrim } = this.limits;
    const limit = sequence.length - 1;
    const isIdle = (id: number) => this.idle.has(id);
    const { adapterKey, ids } = sequence;
    const match = canTrim
      ? this.tree.match(adapterKey, ids, limit)
      : this.tree.matchWhole(adapterKey, ids, limit, isIdle);
    const length = boundaryBefore(sequence.media, match.length);
    if (length < FEWEST_SHARED || (length < match.length && !canTrim)) return undefined;
    const idle = match.holders.find(({ id }) => isIdle(id));
    const canCopy = canTrim && this.copyPays(length);
    // A background request leaves a conversation to its user.
    const leaves = canCopy && idle && this.borrows(sequence, idle) && this.hasSpareId(now);
    if (idle && !leaves && this.canTakeOver(idle, length, now)) return { how: "take over", length, holder: idle };
    const [nearest] = match.holders;
    return nearest && canCopy ? { how: "copy", length, holder: idle ?? nearest } : undefined;
  }

  /** Whether a background request would continue an idle conversation, which its user may continue too. */
  private borrows({ background }: Sequence, { id }: Holder): boolean {
    const idle = this.idle.get(id);
    return background && idle !== undefined && !idle.passing;
  }

  /** Whether a request can have an id without the loss of a sequence that somebody may use again. */
  private hasSpareId(now: number): boolean {
    const next = this.ids.unused() ?? this.ids.leastValuable(now);
    return next !== undefined && (!this.idle.has(next) || this.isPassing(next));
  }

  private canTakeOver(idle: Holder, length: number, now: number): boolean {
    if (idle.length === length) return true;
    if (this.ids.unused() !== undefined) return false;
    // Every id is in use, so one idle sequence must be evicted: this one if most of it is reused or it is next anyway.
    const used = liesApart(this.limits.layout) && 2 * length >= idle.length;
    return used || this.ids.leastValuable(now) === idle.id;
  }

  private takeOver({ holder, length }: Resident, { media }: Sequence, now: number): number {
    this.host.cancelOffload(holder.id);
    if (holder.length > length) {
      if (holder.length - length >= FEWEST_OFFLOADED) this.offload(holder.id, now);
      this.evictAfter(holder.id, length, positionAt(media, length));
    }
    this.idle.delete(holder.id);
    return holder.id;
  }

  private fork({ holder, length }: Resident, { media, adapterKey }: Sequence, now: number): number {
    this.idle.use(holder.id, now);
    const id = this.freeId(adapterKey, now, holder.id);
    this.commands.push({ type: "copy", from: holder.id, to: id, position: positionAt(media, length), cells: length });
    this.tree.fork(id, holder.id, length);
    return id;
  }

  private restore(entry: CachedPrefix, length: number, now: number): number {
    return this.host.restore(entry, length, now, () => {
      this.ensureFree(entry.ids.length, now);
      return this.freeId(entry.adapterKey, now);
    });
  }

  private isPassing(id: number): boolean {
    const idle = this.idle.get(id);
    return idle !== undefined && isPassing(idle);
  }

  private usesOf(id: number): number {
    return this.idle.get(id)?.uses ?? this.running.get(id) ?? 0;
  }

  private freeId(adapterKey: string, now: number, except?: number): number {
    const id = this.ids.next(adapterKey, now, except);
    if (this.idle.has(id) && !this.moveIdle(id)) this.lose(id, now);
    return id;
  }

  /** Frees an id by moving its idle sequence to an unused id. Returns false if there is none or moving does not pay. */
  private moveIdle(id: number): boolean {
    const to = this.ids.unused();
    const idle = this.idle.get(id);
    if (to === undefined || !idle || !this.limits.canTrim || !this.copyPays(this.tree.lengthOf(id))) return false;
    this.move(id, to);
    this.idle.delete(id);
    this.idle.set(to, idle);
    return true;
  }

  /** Moves a sequence to an unused id. */
  private move(from: number, to: number): void {
    this.commands.push({ type: "move", from, to });
    this.tree.fork(to, from, this.tree.lengthOf(from));
    this.tree.remove(from);
  }

  /** Frees cells at the end of an idle sequence, or the whole sequence. */
  private makeSmaller(id: number, cells: number, now: number): void {
    // The host cache now holds the whole sequence, so a part of it here is useless.
    if (this.offload(id, now)) return this.evict(id);
    const media = this.idle.get(id)?.media ?? [];
    const length = boundaryBefore(media, this.tree.lengthOf(id) - cells);
    if (!this.limits.canTrim || this.tree.exclusive(id) <= cells || length < FEWEST_SHARED) return this.evict(id);
    this.host.cancelOffload(id);
    this.evictAfter(id, length, positionAt(media, length));
  }

  /** Evicts all but the first `length` tokens of an idle sequence. */
  private evictAfter(id: number, length: number, position: number): void {
    this.evictedTokens += this.tree.lengthOf(id) - length;
    this.clear(id, length, position);
  }

  /** Clears all but the first `length` tokens of a sequence. */
  private clear(id: number, length: number, position: number): void {
    this.tree.trim(id, length);
    this.commands.push({ type: "trim", sequence: id, position, cells: length });
  }

  /** Offloads an idle sequence if that is worth it; returns whether the host cache holds it now. */
  private offload(id: number, now: number): boolean {
    const worth = !this.isPassing(id) && this.tree.exclusive(id) >= FEWEST_OFFLOADED;
    return worth && this.host.offload(this.offloadable(id), now);
  }

  private offloadable(id: number): Evicted {
    const idle = this.idle.get(id) ?? { media: [], at: 0 };
    return { ...idle, id, ids: this.tree.tokensOf(id), adapterKey: this.tree.adapterKeyOf(id) };
  }

  /** Evicts an idle sequence, to free its id; the host cache holds it if that is worth it. */
  private lose(id: number, now: number): void {
    this.offload(id, now);
    this.evict(id);
  }

  /** Frees the cells of an idle sequence, because others need them or the host cache holds the sequence. */
  private evict(id: number): void {
    this.evictedTokens += this.tree.exclusive(id);
    this.drop(id);
  }

  private drop(id: number): void {
    this.host.cancelOffload(id);
    this.idle.delete(id);
    this.tree.remove(id);
    this.commands.push({ type: "trim", sequence: id, position: 0 });
  }
}
