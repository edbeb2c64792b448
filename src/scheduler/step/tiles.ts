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
   * Returns those of these prompts of one adapter set that share a prefix with the first, to be computed together, and
   * those to be computed apart with the first if it is alone: others with a common prefix have later steps. What else a
   * prompt has in the cache is copied for the step, so it must be no more than what the step computes of it.
   */
  groupOf(prompts: readonly Sequence[], endOf: (prompt: Sequence) => number): readonly [Sequence[], Sequence[]] {
    const { tile } = this.limits;
    if (tile === 0) return [[], [...prompts]];
    const groups = Map.groupBy(prompts, (prompt) => this.kv.holderOf(prompt, tile) ?? prompt);
    const [[first, ...others] = []] = groups.values();
    const fits = (prompt: Sequence) =>
      first !== undefined && prompt.computed - this.kv.common(prompt, first) <= endOf(prompt) - prompt.computed;
    const apart = [...groups.values()].flatMap((group, at) => (at === 0 || group.length === 1 ? group : []));
    return [first ? [first, ...others.filter(fits)] : [], apart];
  }

  /** Makes the last of a group, which has `rows` rows in all, begin so much earlier that these fill a tile. */
  fillGroup(prompt: Sequence, rows: number): void {
    const begin = prompt.computed - (this.limits.tile - rows);
    if (rows >= this.limits.tile || begin <= 0 || prompt.scored || prompt.media.length > 0) return;
    if (this.cost.pays(rows, this.limits.tile, prompt.computed)) this.beginAt(prompt, begin);
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
