// What the KV cache holds: for running requests, and for whoever comes next with the same beginning. Decides which
// sequence a request continues, which is copied and which is given up, and says it as commands for the native library.

import { IdleSequences, staleness } from "./idle-sequences.ts";
import type { KvCommand } from "./kv-command.ts";
import { cutBefore, positionAt } from "../media-span.ts";
import { PrefixTree, type Holder } from "./prefix-tree.ts";
import type { Saved } from "./host-entries.ts";
import type { Sequence } from "../sequence.ts";
import { SequenceIds, type IdLimits } from "./sequence-ids.ts";
import { FEWEST_SAVED, Spill, type Movable, type SpillLimits } from "./host-cache.ts";
import type { CellsInUse, StepCost } from "../cost/step-cost.ts";

export interface KvLimits extends SpillLimits, IdLimits {
  /** Cells of all sequences. */
  readonly cells: number;
  /** Whether finished requests leave their cells to later ones. */
  readonly reuse: boolean;
  /** What copying a stream costs, in milliseconds; copying unified cells is nearly free. */
  readonly copyMs: number;
}

/** Tokens of a request that are in the sequence of another, in which it goes on, or of which it gets a copy. */
interface Resident {
  readonly how: "take over" | "copy";
  readonly length: number;
  readonly holder: Holder;
}

/** How a request comes by tokens that were computed before. */
type Reuse = Resident | { readonly how: "restore"; readonly length: number; readonly saved: Saved };

/** Fewer shared tokens are not worth a copy. */
const FEWEST_SHARED = 16;
/** Cells are freed in pieces of at least this many, to be done with it for a while. */
const TRIM_GRAIN = 64;

export class KvCache {
  readonly spill: Spill;
  private readonly tree = new PrefixTree();
  private readonly idle = new IdleSequences();
  /** Ids of running requests, with how many requests used the sequence before. */
  private readonly running = new Map<number, number>();
  private readonly ids: SequenceIds;
  private commands: KvCommand[] = [];
  private evictedTokens = 0;
  /** Cells that a chunk fills whose tokens do not count as computed yet. */
  private reserved = 0;

  constructor(
    private readonly limits: KvLimits,
    private readonly cost: Pick<StepCost, "prefillExceeds">,
  ) {
    this.spill = new Spill(limits, cost, (command) => this.commands.push(command));
    this.ids = new SequenceIds(limits, this.tree, this.idle, this.running, this.spill);
  }

  /** Cells that hold tokens. */
  get cells(): number {
    return this.tree.cells + this.reserved;
  }

  /** Cells that running requests need. */
  get runningCells(): number {
    return this.tree.cellsOf((id) => !this.idle.has(id)) + this.reserved;
  }

  /** Both kinds of cells. */
  get inUse(): CellsInUse {
    const { runningCells: running } = this;
    return { running, idle: this.cells - running };
  }

  /** Tokens of finished requests that had to make room, in all. */
  get evicted(): number {
    return this.evictedTokens;
  }

  /** What is to be done before the next decode call; each command is given once. */
  takeCommands(): readonly KvCommand[] {
    const { commands } = this;
    if (commands.length > 0) this.commands = [];
    return commands;
  }

  /** Tokens of a request that need not be computed, and cells that running requests have for them already. */
  reusable(sequence: Sequence, now: number): { readonly tokens: number; readonly cells: number } {
    const reuse = this.find(sequence, now);
    if (!reuse || reuse.how === "restore") return { tokens: reuse?.length ?? 0, cells: 0 };
    const { holder, length } = reuse;
    return { tokens: length, cells: this.tree.sharedLength(holder.id, length, (id) => this.running.has(id)) };
  }

  /** Whether a copy of so many tokens takes less time than computing them does. */
  copyPays(length: number): boolean {
    return this.limits.layout === "unified" || this.cost.prefillExceeds(length, this.limits.copyMs);
  }

  /** Gives a request a sequence id, with as many of its tokens as are in the cache. There must be one that nobody runs. */
  acquire(sequence: Sequence, now: number): void {
    const reuse = this.find(sequence, now);
    const uses = reuse && reuse.how !== "restore" ? this.usesOf(reuse.holder.id) + 1 : 0;
    if (!reuse) sequence.id = this.freeId(now);
    else if (reuse.how === "restore") sequence.id = this.restore(reuse.saved, reuse.length, now);
    else sequence.id = reuse.how === "copy" ? this.fork(reuse, sequence, now) : this.takeOver(reuse, sequence, now);
    if (!this.tree.has(sequence.id)) this.tree.add(sequence.id, sequence.adapterKey);
    sequence.computed = reuse?.length ?? 0;
    this.extend(sequence);
    this.running.set(sequence.id, uses);
  }

  /** More of a running request's tokens are in the cache. */
  extend(sequence: Sequence): void {
    this.tree.extend(sequence.id, sequence.ids, sequence.computed);
  }

  /** Fewer are: their step was given up, or could not be restored. The cells themselves are cleared by the caller. */
  shorten(sequence: Sequence): void {
    this.tree.trim(sequence.id, sequence.computed);
  }

  /** Behind a request's tokens lie some that were guessed wrong. */
  discard(sequence: Sequence): void {
    const position = positionAt(sequence.media, sequence.computed);
    this.commands.push({ type: "remove", sequence: sequence.id, position });
  }

  /** So many cells are for a chunk until it is done or abandoned; there must be room for them. */
  reserve(cells: number): void {
    this.reserved = cells;
  }

  /** The chunk is given up in the middle. */
  abandon(): void {
    this.reserved = 0;
    this.commands.push({ type: "abandon" });
  }

  /** A request stops running; `keep`: its cells stay, as far as nobody needs them. */
  release(sequence: Sequence, now: number, keep: boolean): void {
    const { id, media, preempted } = sequence;
    const uses = this.running.get(id) ?? 0;
    this.running.delete(id);
    sequence.id = -1;
    const worth = this.limits.reuse && keep && this.tree.lengthOf(id) >= FEWEST_SHARED;
    this.idle.set(id, { media, at: now, uses, ...(preempted && { owner: sequence }) });
    // Somebody else holds all of it.
    if (!worth || this.tree.exclusive(id) === 0) this.drop(id);
  }

  /** Frees cells until so many are free; false when running requests hold too many. */
  makeRoom(needed: number, now: number): boolean {
    if (this.limits.layout === "streams") return true;
    for (;;) {
      const missing = this.cells + needed - this.limits.cells;
      if (missing <= 0) return true;
      // Each cell saves a token, whoever's it is.
      const id = this.idle.leastValuable(now, () => 1);
      if (id === undefined) return false;
      this.shrink(id, Math.max(missing, TRIM_GRAIN), now);
    }
  }

  /**
   * Idle cells slow down every step of a unified cache. Beyond `limit`, idle sequences move to host memory, a part in each
   * step.
   */
  moveBeyond(limit: number, now: number): void {
    if (!this.canMove) return;
    if (!this.spill.isMoving && this.inUse.idle > limit) this.beginMoving(now);
    const moved = this.spill.moveOn();
    if (moved !== undefined) this.evict(moved);
  }

  /**
   * The same at once, before a prompt that nobody's stream waits for. What is too short to be moved stays, or is given up.
   */
  clearBeyond(limit: number, now: number, givesUp: boolean): void {
    if (!this.canMove) return;
    const fewest = givesUp ? 1 : FEWEST_SAVED;
    while (this.inUse.idle > limit) {
      const id = this.idle.leastValuable(now, (one) => Number(this.tree.exclusive(one) >= fewest));
      if (id === undefined || (this.tree.exclusive(id) >= FEWEST_SAVED && !this.save(id, now))) return;
      this.evict(id);
    }
  }

  /** Moves the best of what nobody runs to disk, as far as that is worth it; false when nothing is left. */
  storeNext(now: number): boolean {
    for (;;) {
      const [best] = [...this.idle].toSorted(([, a], [, b]) => staleness(a, now) - staleness(b, now));
      if (!best) return this.spill.storeNext(now);
      const stores = this.spill.storeSequence(this.movable(best[0]));
      this.drop(best[0]);
      if (stores) return true;
    }
  }

  /** With room for the whole cache, what is pushed out there is staler than anything that would be lost here. */
  private get canMove(): boolean {
    return this.limits.layout === "unified" && this.spill.fits(this.limits.cells);
  }

  private beginMoving(now: number): void {
    // Positions of media are not counted in tokens: those are moved whole or not at all.
    const plain = (id: number) => this.idle.get(id)?.media.length === 0;
    const worth = (id: number) => (plain(id) && this.tree.exclusive(id) >= FEWEST_SAVED ? 1 : 0);
    const id = this.idle.leastValuable(now, worth);
    if (id === undefined) return;
    // What cannot be cut cannot be taken out in parts.
    const moved = this.limits.cut ? this.spill.beginMoving(this.movable(id), now) : this.save(id, now);
    if (moved) this.evict(id);
  }

  private find(sequence: Sequence, now: number): Reuse | undefined {
    const { reuse, cut, layout, cells } = this.limits;
    if (!reuse) return undefined;
    const resident = this.findResident(sequence, now);
    const found = this.spill.find(sequence, sequence.length - 1, !cut);
    if (!found) return resident;
    const length = cutBefore(sequence.media, found.length);
    if (length < found.length && !cut) return resident;
    const gain = length - (resident?.length ?? 0);
    const worth = this.cost.prefillExceeds(gain, this.spill.restoreMs(found.saved));
    const fits = layout === "streams" || this.runningCells + found.saved.ids.length <= cells;
    return gain >= FEWEST_SAVED && worth && fits ? { how: "restore", length, saved: found.saved } : resident;
  }

  private findResident(sequence: Sequence, now: number): Resident | undefined {
    const { cut } = this.limits;
    const limit = sequence.length - 1;
    const isIdle = (id: number) => this.idle.has(id);
    const { adapterKey, ids } = sequence;
    const match = cut ? this.tree.match(adapterKey, ids, limit) : this.tree.matchWhole(adapterKey, ids, limit, isIdle);
    const length = cutBefore(sequence.media, match.length);
    if (length < FEWEST_SHARED || (length < match.length && !cut)) return undefined;
    const idle = match.holders.find(({ id }) => isIdle(id));
    if (idle && this.canTakeOver(idle, length, now)) return { how: "take over", length, holder: idle };
    const [nearest] = match.holders;
    return nearest && cut && this.copyPays(length) ? { how: "copy", length, holder: idle ?? nearest } : undefined;
  }

  private canTakeOver(idle: Holder, length: number, now: number): boolean {
    if (idle.length === length) return true;
    if (this.ids.unused() !== undefined) return false;
    // Somebody's sequence has to go: this one, where most of it is used again or it is the next to go anyway.
    const used = this.limits.layout === "streams" && 2 * length >= idle.length;
    return used || this.ids.leastValuable(now) === idle.id;
  }

  private takeOver({ holder, length }: Resident, { media }: Sequence, now: number): number {
    this.spill.stopMoving(holder.id);
    if (holder.length > length) {
      if (holder.length - length >= FEWEST_SAVED) this.save(holder.id, now);
      this.trim(holder.id, length, positionAt(media, length));
    }
    this.idle.delete(holder.id);
    return holder.id;
  }

  private fork({ holder, length }: Resident, { media }: Sequence, now: number): number {
    this.idle.use(holder.id, now);
    const id = this.freeId(now, holder.id);
    this.commands.push({ type: "copy", from: holder.id, to: id, position: positionAt(media, length) });
    this.tree.fork(id, holder.id, length);
    return id;
  }

  private restore(saved: Saved, length: number, now: number): number {
    return this.spill.restore(saved, length, now, () => {
      this.makeRoom(saved.ids.length, now);
      return this.freeId(now);
    });
  }

  private usesOf(id: number): number {
    return this.idle.get(id)?.uses ?? this.running.get(id) ?? 0;
  }

  private freeId(now: number, except?: number): number {
    const id = this.ids.next(now, except);
    if (this.idle.has(id)) {
      this.save(id, now);
      this.evict(id);
    }
    return id;
  }

  /** Takes cells from the end of an idle sequence, or all of it. */
  private shrink(id: number, cells: number, now: number): void {
    // What is in host memory need not be here in part.
    if (this.save(id, now)) return this.evict(id);
    const media = this.idle.get(id)?.media ?? [];
    const length = cutBefore(media, this.tree.lengthOf(id) - cells);
    if (!this.limits.cut || this.tree.exclusive(id) <= cells || length < FEWEST_SHARED) return this.evict(id);
    this.spill.stopMoving(id);
    this.trim(id, length, positionAt(media, length));
  }

  private trim(id: number, length: number, position: number): void {
    this.evictedTokens += this.tree.lengthOf(id) - length;
    this.tree.trim(id, length);
    this.commands.push({ type: "remove", sequence: id, position });
  }

  /** Puts an idle sequence into host memory, where that is worth it; true if it is there now. */
  private save(id: number, now: number): boolean {
    return this.tree.exclusive(id) >= FEWEST_SAVED && this.spill.save(this.movable(id), now);
  }

  private movable(id: number): Movable {
    const adapterKey = this.tree.adapterKeyOf(id);
    const { media = [], owner } = this.idle.get(id) ?? {};
    return { id, ids: this.tree.tokensOf(id), adapterKey, media, resumes: owner?.preempted ?? false };
  }

  /** Gives up what a finished request left, because there is no room for it. */
  private evict(id: number): void {
    this.evictedTokens += this.tree.exclusive(id);
    this.drop(id);
  }

  private drop(id: number): void {
    this.spill.stopMoving(id);
    this.idle.delete(id);
    this.tree.remove(id);
    this.commands.push({ type: "remove", sequence: id, position: 0 });
  }
}
