// Moving idle sequences to host memory and back: at once where there is time for that, else a part in each step.

import { DiskTier, type DiskLimits } from "./disk-cache.ts";
import type { KvCommand } from "./kv-command.ts";
import { positionAt, type MediaSpan } from "../media-span.ts";
import { CROWD_STEP_MS } from "../step/prefill.ts";
import { SavedPrefixes, shared, type Computed, type Saved, type SavedId } from "./host-entries.ts";
import type { StepCost } from "../cost/step-cost.ts";
import type { Stored } from "./prefix-index.ts";

export interface SpillLimits extends DiskLimits {
  /** Bytes of host memory for what has to leave the cache. */
  readonly savedBytes: number;
  /** Bytes that a token takes; what a sequence takes beside its tokens is learned. */
  readonly tokenBytes: number;
  /** What moving a token to host memory or back costs, in milliseconds. */
  readonly saveTokenMs: number;
}

/** What is known of a sequence that is to be moved. */
export interface Movable extends Computed {
  readonly id: number;
  readonly media: readonly MediaSpan[];
  /** Its request waits to go on. */
  readonly resumes: boolean;
}

/** Less is not worth moving to host memory, nor back. */
export const FEWEST_SAVED = 256;

/** What is moved away is moved back, some day. */
const MOVES = 2;

export class Spill {
  /** How long what is moved may hold up the step, in milliseconds. */
  private patienceMs = Number.POSITIVE_INFINITY;
  /** The same for all of it together whose requests wait to go on. */
  private resumingMs = CROWD_STEP_MS;
  /** What left host memory. */
  readonly disk: DiskTier;
  private readonly saved: SavedPrefixes;
  private movedTokens = 0;
  private restoredTokens = 0;
  private restoring: SavedId | undefined;
  /** What is on its way, and how many tokens of it are there. */
  private moving: { readonly id: number; readonly length: number; readonly saved: SavedId; done: number } | undefined;

  constructor(
    private readonly limits: SpillLimits,
    private readonly cost: Pick<StepCost, "prefillExceeds">,
    private readonly command: (command: KvCommand) => void,
  ) {
    this.saved = new SavedPrefixes(limits.savedBytes, limits.tokenBytes, limits.cut);
    this.disk = new DiskTier(limits, command);
  }

  /** Tokens in host memory. */
  get tokens(): number {
    return this.saved.tokens;
  }

  /** Tokens that were moved there, in all. */
  get moved(): number {
    return this.movedTokens;
  }

  /** Tokens that came back from there, in all. */
  get restored(): number {
    return this.restoredTokens;
  }

  get isMoving(): boolean {
    return this.moving !== undefined;
  }

  /** What moving a token to host memory and back takes, in milliseconds. */
  get bothWaysTokenMs(): number {
    return MOVES * this.limits.saveTokenMs;
  }

  /** A step begins, which each sequence that is moved may hold up for so many milliseconds. */
  beginStep(patienceMs: number): void {
    this.patienceMs = patienceMs;
    this.resumingMs = CROWD_STEP_MS;
  }

  /**
   * Whether so many tokens can be moved within the step. Those of a request that `resumes` are needed again for certain:
   * streams wait longer for them, if computing them again took longer still.
   */
  affords(tokens: number, resumes = false): boolean {
    const ms = tokens * this.limits.saveTokenMs;
    const pays = resumes && this.cost.prefillExceeds(tokens, MOVES * ms);
    return this.limits.savedBytes > 0 && (ms <= this.patienceMs || (pays && ms <= this.resumingMs));
  }

  /** Whether so many tokens find room in host memory together. */
  fits(tokens: number): boolean {
    return this.limits.savedBytes > 0 && this.saved.fits(tokens);
  }

  /** Puts all of a sequence into host memory; true if it is there now. */
  save(movable: Movable, now: number): boolean {
    const { length } = movable.ids;
    if (!this.affords(length, movable.resumes)) return false;
    if (!this.saved.wants(movable)) return this.saved.fits(length);
    const saved = this.keep(movable, now);
    if (saved === undefined) return false;
    this.command({ type: "save", sequence: movable.id, saved, from: 0, to: -1 });
    this.saved.complete(saved);
    this.movedTokens += length;
    if (movable.resumes) this.resumingMs -= length * this.limits.saveTokenMs;
    return true;
  }

  /** Begins to move a sequence without media, part by part. True if that is not needed: it is there already. */
  beginMoving(movable: Movable, now: number): boolean {
    const { length } = movable.ids;
    if (!this.saved.wants(movable)) return this.saved.fits(length);
    const saved = this.keep(movable, now);
    if (saved !== undefined) this.moving = { id: movable.id, length, saved, done: 0 };
    return false;
  }

  /** Moves the next part; the sequence that is in host memory by that as a whole, or undefined. */
  moveOn(): number | undefined {
    const { moving } = this;
    if (!moving) return undefined;
    const part = Math.max(FEWEST_SAVED, Math.floor(this.patienceMs / this.limits.saveTokenMs));
    const { id, saved, length, done: from } = moving;
    moving.done = Math.min(length, from + part);
    const complete = moving.done === length;
    this.command({ type: "save", sequence: id, saved, from, to: complete ? -1 : moving.done });
    if (!complete) return undefined;
    this.saved.complete(saved);
    this.movedTokens += length;
    this.moving = undefined;
    return id;
  }

  /** So many more bytes of something are in host memory. */
  wrote(saved: SavedId, bytes: number, now: number): void {
    for (const gone of this.saved.wrote(saved, bytes, now, this.pinned)) this.disk.take(gone);
  }

  /** A sequence changes or goes: what was moved of it is of no use. */
  stopMoving(id: number): void {
    if (this.moving?.id !== id) return;
    this.forget(this.moving.saved);
    this.moving = undefined;
  }

  /** The longest beginning of the first `limit` tokens in host memory; `whole`: only of what can be used to its end. */
  find(
    wanted: Computed,
    limit: number,
    whole: boolean,
  ): { readonly saved: Saved; readonly length: number } | undefined {
    return this.saved.find(wanted, limit, whole);
  }

  /** What bringing it back takes, in milliseconds. */
  restoreMs({ ids }: Pick<Saved, "ids">): number {
    return ids.length * this.limits.saveTokenMs;
  }

  /** Brings back the first `length` tokens into the sequence that `place` finds; that may move others out. */
  restore(saved: Saved, length: number, now: number, place: () => number): number {
    this.restoring = saved.id;
    const id = place();
    this.restoring = undefined;
    this.saved.used(saved.id, now);
    this.restoredTokens += length;
    this.command({ type: "restore", sequence: id, saved: saved.id });
    if (saved.ids.length > length) {
      this.command({ type: "remove", sequence: id, position: positionAt(saved.media, length) });
    }
    return id;
  }

  /** It could not be brought back, and would not be the next time. */
  distrust(id: SavedId): void {
    const saved = this.saved.get(id);
    if (!saved) return;
    this.forget(id);
    this.disk.distrust(saved);
  }

  /** Begins to read something from disk; the place in host memory where it will be, if there is one. */
  load(stored: Stored, now: number): SavedId | undefined {
    const place = this.disk.placeOf(stored.id);
    if (place !== undefined) return place;
    const saved = this.keep(stored, now);
    if (saved !== undefined) this.disk.load(stored, saved);
    return saved;
  }

  /** What was read from disk is in host memory, so many bytes; or it could not be read. */
  loaded(saved: SavedId, bytes: number | undefined, now: number): void {
    const done = bytes !== undefined;
    this.disk.loaded(saved, done);
    if (!done) return this.forget(saved);
    this.saved.complete(saved);
    this.wrote(saved, bytes, now);
  }

  /** Moves a sequence straight to disk, if that is worth it. True if it is being written. */
  storeSequence(movable: Movable): boolean {
    if (!this.disk.wants(movable)) return false;
    const id = this.saved.newId();
    this.command({ type: "save", sequence: movable.id, saved: id, from: 0, to: -1 });
    return this.disk.take({ ...movable, id });
  }

  /** Moves the best of what host memory holds to disk, as far as that is worth it; false when nothing is left. */
  storeNext(now: number): boolean {
    for (;;) {
      const saved = this.saved.takeBest(now);
      if (!saved) return false;
      if (this.disk.take(saved)) return true;
    }
  }

  /** A place in host memory; what has to make way for it goes to disk or is forgotten. */
  private keep(sequence: Omit<Saved, "id">, now: number): SavedId | undefined {
    const added = this.saved.add(sequence, now, this.pinned);
    for (const gone of added?.dropped ?? []) {
      const superfluous = this.limits.cut && shared(gone, sequence, sequence.ids.length) === gone.ids.length;
      if (superfluous) this.command({ type: "forget", saved: gone.id });
      else this.disk.take(gone);
    }
    return added?.id;
  }

  /** What is on its way. */
  private get pinned(): readonly (SavedId | undefined)[] {
    return [this.restoring, this.moving?.saved, ...this.disk.loading];
  }

  private forget(saved: SavedId): void {
    this.saved.remove(saved);
    this.command({ type: "forget", saved });
  }
}
