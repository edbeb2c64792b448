// Fills tiles of attention. On the CPU, llama.cpp computes attention for a tile of rows together, several times as fast as
// for each row alone. Where sequences lie apart, it does so only if each has at least a tile of rows in a micro-batch, in
// which all have equally many. Prompts behind a common prefix are therefore computed together, as if they did not lie
// apart; and a short prompt behind a long cached one costs less if it begins a tile before its end.

import type { TileCost } from "../cost/cell-cost.ts";
import type { KvCache } from "../kv/kv-cache.ts";
import type { SchedulerLimits } from "../limits.ts";
import type { Sequence } from "../sequence.ts";

export class Tiles {
  /** Keys of adapter sets whose last step, of those that had the choice, computed prompts. */
  private readonly hadPrompts = new Set<string>();

  constructor(
    readonly limits: SchedulerLimits,
    private readonly kv: Pick<KvCache, "common" | "cut" | "holderOf">,
    private readonly cost: Pick<TileCost, "pays">,
  ) {}

  /** Returns whether a prompt that is computed up to `end` is to have exactly one tile of rows. */
  takesOneTile(prompt: Sequence, end: number): boolean {
    const { tile } = this.limits;
    const begin = end - tile;
    if (tile === 0 || begin <= 0 || begin > prompt.computed || prompt.scored || prompt.media.length > 0) return false;
    return begin === prompt.computed || this.cost.pays(end - prompt.computed, tile, end);
  }

  /** Makes such a prompt begin a tile before `end`: its cached tokens after that are cleared, to be computed again. */
  fill(prompt: Sequence, end: number): void {
    this.beginAt(prompt, end - this.limits.tile);
  }

  /**
   * Returns two choices of these prompts of one adapter set. The first is to be computed together: the first prompt, and
   * those that share a prefix of at least a tile with it, unless they hold more cells without it, which are copied, than
   * the step computes. The second, if that is the first prompt alone, is computed apart: others that share a prefix with
   * each other wait for a step of their own.
   */
  groupOf(prompts: readonly Sequence[], endOf: (prompt: Sequence) => number): readonly [Sequence[], Sequence[]] {
    const { tile } = this.limits;
    if (tile === 0) return [[], [...prompts]];
    const groups = Map.groupBy(prompts, (prompt) => this.kv.holderOf(prompt, tile) ?? prompt);
    const [[first, ...others] = []] = groups.values();
    const fits = (prompt: Sequence) =>
      first !== undefined && prompt.computed - this.kv.common(prompt, first) <= endOf(prompt) - prompt.computed;
    const waiting = new Set([...groups.values()].slice(1).flatMap((group) => (group.length > 1 ? group : [])));
    return [first ? [first, ...others.filter(fits)] : [], prompts.filter((prompt) => !waiting.has(prompt))];
  }

  /** Makes one of a group with `rows` rows in all, but not the first, begin so much earlier that these fill a tile. */
  fillGroup([, ...others]: readonly Sequence[], rows: number): void {
    const missing = this.limits.tile - rows;
    const last = others.findLast(({ computed, scored, media }) => computed > missing && !scored && media.length === 0);
    if (!last || missing <= 0 || !this.cost.pays(rows, this.limits.tile, last.computed)) return;
    this.beginAt(last, last.computed - missing);
  }

  private beginAt(prompt: Sequence, begin: number): void {
    if (prompt.computed === begin) return;
    prompt.computed = begin;
    this.kv.cut(prompt);
  }

  /**
   * Returns which of these streams and prompts of one adapter set the next step computes. Streams and prompts of several
   * rows take turns: together, llama.cpp would compute one row of each first, which leaves prompts a row short of a tile.
   */
  turnOf(
    streams: readonly Sequence[],
    prompts: readonly Sequence[],
  ): readonly [readonly Sequence[], readonly Sequence[]] {
    const long = prompts.filter(({ uncomputed }) => uncomputed > 1);
    const [first] = long;
    if (this.limits.tile === 0 || streams.length === 0 || !first) return [streams, prompts];
    if (this.hadPrompts.delete(first.adapterKey)) return [streams, prompts.filter(({ uncomputed }) => uncomputed <= 1)];
    this.hadPrompts.add(first.adapterKey);
    return [[], long];
  }
}
