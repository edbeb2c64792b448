// Computes prompts beside streams where a chunk can be paused: each interlude computes the slice of a chunk that fits.

import type { StepCost } from "../cost/step-cost.ts";
import type { KvCache } from "../kv/kv-cache.ts";
import { byPlace, type SlicePlan, type StepPlan } from "../plan.ts";
import type { Sequence } from "../sequence.ts";
import { AdapterTurns } from "./adapter-turns.ts";
import type { Interlude } from "./interlude.ts";
import { byRemainingWork, promptRows, type PrefillBudget } from "./prefill.ts";
import type { Tiles } from "./tiles.ts";

/** How a slice ended: the chunk is done, paused before its end, or abandoned. */
export type SliceResult = "done" | "paused" | "abandoned";

interface Chunk {
  readonly plan: StepPlan;
  /** Key of the adapters that compute the chunk. */
  readonly adapterKey: string;
  /** Whether a slice of the chunk was computed. */
  begun: boolean;
  /** Milliseconds of the chunk's slices so far. */
  ms: number;
}

export class Slices {
  private chunk: Chunk | undefined;
  /** Decides which adapters' prompts are next; streams take separate turns between the slices. */
  private readonly turns = new AdapterTurns();

  constructor(
    /** Maximum number of rows of a chunk; 0 where chunks cannot be paused. */
    private readonly rows: number,
    private readonly kv: KvCache,
    private readonly cost: StepCost,
    private readonly budget: PrefillBudget,
    private readonly interlude: Interlude,
    private readonly tiles: Tiles,
  ) {}

  /** Plans the next slice, if one is due. `freeCells`: how many cells the chunk may fill. */
  plan(
    streams: readonly Sequence[],
    prompts: readonly Sequence[],
    freeCells: number,
    now: number,
  ): SlicePlan | undefined {
    if (this.rows === 0) return undefined;
    const ms = this.interlude.leftOf(this.budget.sliceMs(streams.length), streams);
    if (ms === 0) return undefined;
    if (streams.length > 0) this.chunk ??= this.planChunk(prompts, Math.min(this.rows, freeCells), now);
    return this.chunk && { chunk: this.chunk.plan, begins: !this.chunk.begun, ms };
  }

  /** Applies the result of a slice. Returns the chunk if it is done. */
  apply(result: SliceResult, ms: number): Chunk | undefined {
    const { chunk } = this;
    if (!chunk) return undefined;
    chunk.begun = true;
    chunk.ms += ms;
    // The chunk's next part is too long for this interlude.
    this.interlude.spend(result === "paused" ? Number.POSITIVE_INFINITY : ms);
    if (result === "paused") return undefined;
    this.chunk = undefined;
    this.kv.reserve(0);
    if (result !== "done") return undefined;
    this.turns.served(chunk.adapterKey);
    return chunk;
  }

  /** Returns whether the chunk computes some of this prompt. */
  computes({ key }: Sequence): boolean {
    return this.chunk?.plan.rows.some((row) => row.key === key) ?? false;
  }

  /** Abandons the chunk if it contains some of the prompt of this request, which stops running. */
  abandon(sequence: Sequence): void {
    if (!this.computes(sequence)) return;
    this.chunk = undefined;
    this.kv.abandon();
  }

  private planChunk(prompts: readonly Sequence[], budget: number, now: number): Chunk | undefined {
    // A prompt's last token is computed in a step, because only steps sample.
    const endOf = (prompt: Sequence) => Math.min(prompt.textEnd, prompt.length - 1);
    const open = prompts.filter((prompt) => prompt.computed < endOf(prompt));
    const [group = []] = this.turns.inOrder(open);
    const { rows, started } = promptRows(byRemainingWork(group, this.cost, now), budget, endOf, this.tiles);
    const [first] = group;
    if (!first || rows.length === 0) return undefined;
    if (!this.kv.ensureFree(rows.length, now)) throw new Error("a chunk that does not fit the KV cache");
    this.kv.reserve(rows.length);
    rows.sort(byPlace);
    const prefillRows = rows.length;
    const { adapters, adapterKey } = first;
    const plan = { rows, adapters, started, decodeRows: 0, prefillRows, speculativeRows: 0, steps: 1, together: false };
    return { plan, adapterKey, begun: false, ms: 0 };
  }
}
