// What the KV cache holds: for running requests, and for whoever comes next with the same beginning. Decides which
// sequence a request continues, which is copied and which is given up, and says it as commands for the native library.

import { cutBefore, positionAt, type MediaSpan } from "./media-span.ts";
import { PrefixTree, type Holder } from "./prefix-tree.ts";
import { SavedPrefixes, type Saved, type SavedId } from "./saved-prefixes.ts";
import type { Sequence } from "./sequence.ts";

export interface KvLimits {
  /** Unified: all sequences divide the cells, and share what they have in common. Streams: each has a fixed share. */
  readonly layout: "unified" | "streams";
  /** Cells of all sequences. */
  readonly cells: number;
  /** Sequence ids; at least as many as requests may run. */
  readonly sequences: number;
  /** Whether finished requests leave their cells to later ones. */
  readonly reuse: boolean;
  /** Whether the model's state can be cut at any token; else a later request must continue all of it. */
  readonly cut: boolean;
  /** What copying a stream costs, in milliseconds; copying unified cells is nearly free. */
  readonly copyMs: number;
  /** Tokens that host memory may hold of what has to leave the cache. */
  readonly savedTokens: number;
  /** What moving a token to host memory or back costs, in milliseconds. */
  readonly saveTokenMs: number;
}

/** To be carried out in order before the next decode call. */
export type KvCommand =
  /** Clears a sequence from a position on. */
  | { readonly type: "remove"; readonly sequence: number; readonly position: number }
  /** Makes the beginning of one sequence, up to a position, all of another. */
  | { readonly type: "copy"; readonly from: number; readonly to: number; readonly position: number }
  /** Keeps what a sequence holds from one position to another, or to its end (-1), in host memory behind what is there. */
  | {
      readonly type: "save";
      readonly sequence: number;
      readonly saved: SavedId;
      readonly from: number;
      readonly to: number;
    }
  /** Makes what was kept all of a sequence. */
  | { readonly type: "restore"; readonly sequence: number; readonly saved: SavedId }
  /** It is not needed any more. */
  | { readonly type: "forget"; readonly saved: SavedId };

/** A sequence that nobody runs. */
interface Idle {
  readonly media: readonly MediaSpan[];
  /** When a request last used it. */
  readonly at: number;
  /** Requests that it has served. */
  readonly uses: number;
}

/** How a request comes by tokens that were computed before. */
type Reuse =
  /** It goes on in the found sequence itself, whose other tokens are lost by that; or it gets a copy. */
  | { readonly how: "take over" | "copy"; readonly length: number; readonly holder: Holder }
  | { readonly how: "restore"; readonly length: number; readonly saved: Saved };

type Resident = Exclude<Reuse, { how: "restore" }>;

/** Fewer shared tokens are not worth a copy. */
const FEWEST_SHARED = 16;
/** Less is not worth moving to host memory, nor back. */
const FEWEST_SAVED = 256;
/** Ages closer than this are the same. */
const AGE_GRAIN_MS = 1000;
/** Cells are freed in pieces of at least this many, to be done with it for a while. */
const TRIM_GRAIN = 64;

export class KvCache {
  private readonly tree = new PrefixTree();
  private readonly idle = new Map<number, Idle>();
  private readonly runs = new Map<number, number>();
  private readonly saved: SavedPrefixes;
  private commands: KvCommand[] = [];
  private evictedTokens = 0;
  private restoredTokens = 0;
  private restoring: SavedId | undefined;
  /** An idle sequence that is on its way to host memory, and how much of it is there. */
  private moving: { readonly id: number; readonly saved: SavedId; done: number } | undefined;
  /** How long saving a sequence may take now, in milliseconds: somebody may be waiting for the next step. */
  patienceMs = Number.POSITIVE_INFINITY;

  constructor(private readonly limits: KvLimits) {
    this.saved = new SavedPrefixes(limits.savedTokens);
  }

  /** Cells that hold tokens. */
  get cells(): number {
    return this.tree.cells;
  }

  /** Cells that running requests need. */
  get runningCells(): number {
    return this.tree.cellsOf((id) => !this.idle.has(id));
  }

  /** Tokens of finished requests that were given up, in all. */
  get evicted(): number {
    return this.evictedTokens;
  }

  /** Tokens that are in host memory, and those that came back from there, in all. */
  get spill(): { readonly tokens: number; readonly restored: number } {
    return { tokens: this.saved.tokens, restored: this.restoredTokens };
  }

  /** What is to be done before the next decode call; each command is given once. */
  takeCommands(): readonly KvCommand[] {
    const { commands } = this;
    if (commands.length > 0) this.commands = [];
    return commands;
  }

  /**
   * Tokens of a request that need not be computed, and cells that it need not have for them. `ms`: what computing a token
   * costs, if that is known.
   */
  reusable(
    sequence: Sequence,
    now: number,
    ms: number | undefined,
  ): { readonly tokens: number; readonly cells: number } {
    const reuse = this.find(sequence, now, ms);
    return { tokens: reuse?.length ?? 0, cells: reuse && reuse.how !== "restore" ? reuse.length : 0 };
  }

  /**
   * Gives a request a sequence id, with as many of its tokens as are in the cache. There must be one that nobody runs.
   * `ms`: what computing a token costs, if that is known.
   */
  acquire(sequence: Sequence, now: number, ms: number | undefined): void {
    const reuse = this.find(sequence, now, ms);
    let uses = 0;
    if (!reuse) sequence.id = this.freeId(now);
    else if (reuse.how === "restore") sequence.id = this.restore(reuse, sequence, now);
    else {
      uses = this.usesOf(reuse.holder.id) + 1;
      sequence.id = reuse.how === "copy" ? this.fork(reuse, sequence, now) : this.takeOver(reuse, sequence, now);
    }
    if (!this.tree.has(sequence.id)) this.tree.add(sequence.id, -1, 0);
    sequence.computed = reuse?.length ?? 0;
    this.extend(sequence);
    this.runs.set(sequence.id, uses);
  }

  /** What was to be restored is not there: the request has nothing in the cache. */
  lost(sequence: Sequence): void {
    sequence.computed = 0;
    this.shorten(sequence);
  }

  /** More of a running request's tokens are in the cache. */
  extend(sequence: Sequence): void {
    this.tree.extend(sequence.id, sequence.ids, sequence.computed);
  }

  /** Behind a request's tokens lie some that were guessed wrong. */
  discard(sequence: Sequence): void {
    const position = positionAt(sequence.media, sequence.computed);
    this.commands.push({ type: "remove", sequence: sequence.id, position });
  }

  /** Fewer are, because their step was given up. The cells themselves are cleared by the caller. */
  shorten(sequence: Sequence): void {
    this.tree.trim(sequence.id, sequence.computed);
  }

  /** A request stops running; `keep`: its cells stay, as far as nobody needs them. */
  release(sequence: Sequence, now: number, keep: boolean): void {
    const { id, media } = sequence;
    const uses = this.runs.get(id) ?? 0;
    this.runs.delete(id);
    sequence.id = -1;
    const worth = this.limits.reuse && keep && this.tree.lengthOf(id) >= FEWEST_SHARED;
    this.idle.set(id, { media, at: now, uses });
    // Somebody else holds all of it.
    if (!worth || this.tree.exclusive(id) === 0) this.drop(id);
  }

  /** Frees cells until so many are free; false when running requests hold too many. */
  makeRoom(needed: number, now: number): boolean {
    if (this.limits.layout === "streams") return true;
    for (;;) {
      const missing = this.tree.cells + needed - this.limits.cells;
      if (missing <= 0) return true;
      const id = this.leastValuable("cells", now);
      if (id === undefined) return false;
      this.shrink(id, Math.max(missing, TRIM_GRAIN), now);
    }
  }

  /**
   * Idle cells slow down every step of a unified cache. Beyond `limit`, idle sequences move to host memory, a part in each
   * step.
   */
  moveBeyond(limit: number, now: number): void {
    if (this.limits.layout === "streams" || this.limits.savedTokens === 0) return;
    if (!this.moving && this.cells - this.runningCells > limit) this.beginMoving(now);
    const { moving } = this;
    if (!moving) return;
    const length = this.tree.lengthOf(moving.id);
    const part = Math.max(FEWEST_SAVED, Math.floor(this.patienceMs / this.limits.saveTokenMs));
    const end = Math.min(length, moving.done + part);
    const to = end === length ? -1 : end;
    this.commands.push({ type: "save", sequence: moving.id, saved: moving.saved, from: moving.done, to });
    moving.done = end;
    if (end < length) return;
    this.saved.complete(moving.saved);
    this.moving = undefined;
    this.drop(moving.id);
  }

  private beginMoving(now: number): void {
    // Positions of media are not counted in tokens: those are moved whole or not at all.
    const worth = [...this.idle].filter(
      ([id, { media }]) => media.length === 0 && this.tree.exclusive(id) >= FEWEST_SAVED,
    );
    const id = this.leastValuable("cells", now, new Map(worth));
    if (id === undefined) return;
    const ids = this.tree.tokensOf(id);
    if (!this.saved.wants(ids)) {
      if (ids.length <= this.limits.savedTokens) this.drop(id);
      return;
    }
    const added = this.keep(ids, [], now);
    if (added !== undefined) this.moving = { id, saved: added, done: 0 };
  }

  /** Its cells are wanted as they are, or are gone. */
  private stopMoving(id: number): void {
    if (this.moving?.id !== id) return;
    this.saved.remove(this.moving.saved);
    this.commands.push({ type: "forget", saved: this.moving.saved });
    this.moving = undefined;
  }

  /** A place in host memory; what has to make way for it is forgotten. */
  private keep(ids: Int32Array, media: readonly MediaSpan[], now: number): SavedId | undefined {
    const added = this.saved.add({ ids, media }, now, [this.restoring, this.moving?.saved]);
    for (const gone of added?.dropped ?? []) this.commands.push({ type: "forget", saved: gone });
    return added?.id;
  }

  private find(sequence: Sequence, now: number, ms: number | undefined): Reuse | undefined {
    if (!this.limits.reuse) return undefined;
    const resident = this.findResident(sequence, now, ms);
    const found = this.saved.find(sequence.ids, sequence.length - 1, !this.limits.cut);
    if (!found) return resident;
    const length = cutBefore(sequence.media, found.length);
    const gain = length - (resident?.length ?? 0);
    const worth = ms === undefined || gain * ms > found.saved.ids.length * this.limits.saveTokenMs;
    const fits = this.limits.layout === "streams" || this.runningCells + found.saved.ids.length <= this.limits.cells;
    return gain >= FEWEST_SAVED && worth && fits ? { how: "restore", length, saved: found.saved } : resident;
  }

  private findResident(sequence: Sequence, now: number, ms: number | undefined): Reuse | undefined {
    const { cut, layout, copyMs } = this.limits;
    const limit = sequence.length - 1;
    const isIdle = (id: number) => this.idle.has(id);
    const match = cut ? this.tree.match(sequence.ids, limit) : this.tree.matchWhole(sequence.ids, limit, isIdle);
    const length = cutBefore(sequence.media, match.length);
    if (length < FEWEST_SHARED || (length < match.length && !cut)) return undefined;
    const idle = match.holders.find(({ id }) => isIdle(id));
    if (idle && this.canTakeOver(idle, length, now)) return { how: "take over", length, holder: idle };
    const [nearest] = match.holders;
    const worth = layout === "unified" || ms === undefined || length * ms > copyMs;
    return nearest && cut && worth ? { how: "copy", length, holder: idle ?? nearest } : undefined;
  }

  private canTakeOver(idle: Holder, length: number, now: number): boolean {
    if (idle.length === length) return true;
    if (this.unusedId() !== undefined) return false;
    // Somebody's sequence has to go: this one, where most of it is used again or it is the next to go anyway.
    const used = this.limits.layout === "streams" && 2 * length >= idle.length;
    return used || this.leastValuable("id", now) === idle.id;
  }

  private takeOver({ holder, length }: Resident, { media }: Sequence, now: number): number {
    this.stopMoving(holder.id);
    if (holder.length > length) {
      if (holder.length - length >= FEWEST_SAVED) this.save(holder.id, now);
      this.commands.push({ type: "remove", sequence: holder.id, position: positionAt(media, length) });
      this.evictedTokens += holder.length - length;
      this.tree.trim(holder.id, length);
    }
    this.idle.delete(holder.id);
    return holder.id;
  }

  private fork({ holder, length }: Resident, { media }: Sequence, now: number): number {
    const source = this.idle.get(holder.id);
    if (source) this.idle.set(holder.id, { ...source, at: now, uses: source.uses + 1 });
    const id = this.freeId(now, holder.id);
    this.commands.push({ type: "copy", from: holder.id, to: id, position: positionAt(media, length) });
    this.tree.add(id, holder.id, length);
    return id;
  }

  private restore({ saved, length }: Exclude<Reuse, Resident>, { media }: Sequence, now: number): number {
    this.restoring = saved.id;
    this.makeRoom(saved.ids.length, now);
    const id = this.freeId(now);
    this.restoring = undefined;
    this.saved.used(saved.id, now);
    this.restoredTokens += length;
    this.commands.push({ type: "restore", sequence: id, saved: saved.id });
    if (saved.ids.length > length) {
      this.commands.push({ type: "remove", sequence: id, position: positionAt(media, length) });
    }
    return id;
  }

  private usesOf(id: number): number {
    return this.idle.get(id)?.uses ?? this.runs.get(id) ?? 0;
  }

  /** The lowest id that is not in use, so that ids stay compact. */
  private unusedId(): number | undefined {
    for (let id = 0; id < this.limits.sequences; id++) if (!this.tree.has(id)) return id;
    return undefined;
  }

  private freeId(now: number, except?: number): number {
    const others = new Map([...this.idle].filter(([idle]) => idle !== except));
    const id = this.neighbour(except) ?? this.unusedId() ?? this.leastValuable("id", now, others);
    if (id === undefined) throw new Error("every sequence is running");
    if (this.idle.has(id)) {
      this.save(id, now);
      this.drop(id);
    }
    return id;
  }

  /**
   * An id next to the running ones: a step of the stream layout is computed in as many pieces as the ids have gaps. Not one
   * whose tokens are many and would be lost.
   */
  private neighbour(except?: number): number | undefined {
    if (this.limits.layout === "unified" || this.runs.size === 0) return undefined;
    const cheap = (id: number) =>
      !this.tree.has(id) ||
      this.tree.exclusive(id) < FEWEST_SAVED ||
      (this.limits.savedTokens > 0 && this.tree.lengthOf(id) * this.limits.saveTokenMs <= this.patienceMs);
    const beside = [...this.runs.keys()].flatMap((id) => [id - 1, id + 1]);
    const free = beside.filter((id) => id >= 0 && id < this.limits.sequences && !this.runs.has(id) && id !== except);
    const rank = (id: number) => (this.tree.has(id) ? this.limits.sequences : 0) + id;
    return free.filter(cheap).toSorted((a, b) => rank(a) - rank(b))[0];
  }

  /**
   * Of the idle sequences the one whose loss is expected to cost the least, for what it frees: an id, whatever it holds,
   * or cells, of which each saves a token.
   */
  private leastValuable(
    frees: "id" | "cells",
    now: number,
    candidates: ReadonlyMap<number, Idle> = this.idle,
  ): number | undefined {
    let found: { id: number; score: number } | undefined;
    for (const [id, { at, uses }] of candidates) {
      const tokens = frees === "id" ? this.tree.exclusive(id) : 1;
      const score = (now - at + AGE_GRAIN_MS) / ((1 + uses) * Math.max(tokens, 1));
      if (!found || score > found.score) found = { id, score };
    }
    return found?.id;
  }

  /** Takes cells from the end of an idle sequence, or all of it. */
  private shrink(id: number, cells: number, now: number): void {
    // What is in host memory need not be here in part.
    if (this.save(id, now)) return this.drop(id);
    const idle = this.idle.get(id);
    const own = this.tree.exclusive(id);
    const length = cutBefore(idle?.media ?? [], this.tree.lengthOf(id) - cells);
    if (!idle || !this.limits.cut || own <= cells || length < FEWEST_SHARED) return this.drop(id);
    this.stopMoving(id);
    this.evictedTokens += this.tree.lengthOf(id) - length;
    this.tree.trim(id, length);
    this.commands.push({ type: "remove", sequence: id, position: positionAt(idle.media, length) });
  }

  /** Moves an idle sequence to host memory, where that is worth it; true if it is there now. */
  private save(id: number, now: number): boolean {
    const idle = this.idle.get(id);
    if (!idle || this.limits.savedTokens === 0 || this.tree.exclusive(id) < FEWEST_SAVED) return false;
    if (this.tree.lengthOf(id) * this.limits.saveTokenMs > this.patienceMs) return false;
    const ids = this.tree.tokensOf(id);
    if (!this.saved.wants(ids)) return ids.length <= this.limits.savedTokens;
    const saved = this.keep(ids, idle.media, now);
    if (saved === undefined) return false;
    this.commands.push({ type: "save", sequence: id, saved, from: 0, to: -1 });
    this.saved.complete(saved);
    return true;
  }

  private drop(id: number): void {
    this.stopMoving(id);
    this.evictedTokens += this.tree.exclusive(id);
    this.idle.delete(id);
    this.tree.remove(id);
    this.commands.push({ type: "remove", sequence: id, position: 0 });
  }
}
