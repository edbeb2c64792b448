// Lets attention compute the ends of prompts in whole tiles. On the CPU, llama.cpp computes attention for a tile of rows
// together, several times as fast as for rows alone, but only if a sequence has at least a tile of rows in a batch. Where
// sequences lie apart, a short prompt behind a long cached one therefore costs less if some cached tokens are computed again.

import type { StepCost } from "../cost/step-cost.ts";
import type { KvCache } from "../kv/kv-cache.ts";
import type { Sequence } from "../sequence.ts";

export interface TileLimits {
  /** Rows of a sequence that attention computes together; 0 where that makes no difference. */
  readonly tile: number;
}

export class Tiles {
  /** Whether the last step that had the choice computed prompts. */
  private hadPrompts = false;

  constructor(
    private readonly limits: TileLimits,
    private readonly kv: Pick<KvCache, "cut">,
    private readonly cost: Pick<StepCost, "tilePays">,
  ) {}

  /** Makes a prompt that is computed up to `end` begin a tile earlier, if that is faster. `most`: how many rows fit. */
  fill(prompt: Sequence, end: number, most: number): void {
    const { tile } = this.limits;
    const begin = end - tile;
    const isShort = tile > 0 && begin > 0 && begin < prompt.computed && tile <= most;
    if (!isShort || prompt.scored || prompt.media.length > 0) return;
    if (!this.cost.tilePays(end - prompt.computed, tile, end)) return;
    prompt.computed = begin;
    this.kv.cut(prompt);
  }

  /**
   * Returns which of these streams and prompts the next step computes. Streams and prompts of several rows take turns:
   * together, llama.cpp would compute one row of each first, which leaves prompts a row short of a tile.
   */
  turnOf(
    streams: readonly Sequence[],
    prompts: readonly Sequence[],
  ): readonly [readonly Sequence[], readonly Sequence[]] {
    const long = prompts.filter(({ remaining }) => remaining > 1);
    if (this.limits.tile === 0 || streams.length === 0 || long.length === 0) return [streams, prompts];
    this.hadPrompts = !this.hadPrompts;
    return this.hadPrompts ? [[], long] : [streams, prompts.filter(({ remaining }) => remaining <= 1)];
  }
}
