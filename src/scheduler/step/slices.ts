// Prompts beside streams, where a chunk of them can be paused: so much is computed in an interlude as fits its time.

import { AdapterTurns } from "./adapter-turns.ts";
import type { Interlude } from "./interlude.ts";
import type { KvCache } from "../kv/kv-cache.ts";
import { byPlace, ownerOf, type SlicePlan, type StepPlan } from "../plan.ts";
import { byRemainingWork, promptRows, type PrefillBudget } from "./prefill.ts";
import type { Sequence } from "../sequence.ts";
import type { StepCost } from "../cost/step-cost.ts";

interface Chunk {
  readonly plan: StepPlan;
  /** Of the adapters that compute it. */
  readonly adapterKey: string;
  /** It has had a slice. */
  begun: boolean;
  /** What its slices took so far, in milliseconds. */
  ms: number;
}

export class Slices {
  private chunk: Chunk | undefined;
  /** Whose prompts are next; streams take turns of their own between the slices. */
  private readonly turns = new AdapterTurns();

  constructor(
    /** Most rows of a chunk. */
    private readonly rows: number,
    private readonly kv: KvCache,
    private readonly cost: StepCost,
    private readonly budget: PrefillBudget,
    private readonly interlude: Interlude,
  ) {}

  /** The next slice, when one is due. `room`: cells that the chunk may fill. */
  plan(streams: readonly Sequence[], prompts: readonly Sequence[], room: number, now: number): SlicePlan | undefined {
    if (this.rows === 0) return undefined;
    const ms = this.interlude.leftOf(this.budget.sliceMs(streams.length), streams);
    if (ms === 0) return undefined;
    if (streams.length > 0) this.chunk ??= this.planChunk(prompts, Math.min(this.rows, room), now);
    return this.chunk && { chunk: this.chunk.plan, begins: !this.chunk.begun, ms };
  }

  /** Takes in a slice: its chunk is done, or there is more of it, or it was given up. Returns a chunk that is done. */
  apply(result: "done" | "paused" | "given up", ms: number): Chunk | undefined {
    const { chunk } = this;
    if (!chunk) return undefined;
    chunk.begun = true;
    chunk.ms += ms;
    // What comes next in it is too long.
    this.interlude.spend(result === "paused" ? Number.POSITIVE_INFINITY : ms);
    if (result === "paused") return undefined;
    this.chunk = undefined;
    this.kv.reserve(0);
    if (result !== "done") return undefined;
    this.turns.served(chunk.adapterKey);
    return chunk;
  }

  /** The chunk computes some of this prompt. */
  hold({ key }: Sequence): boolean {
    return this.chunk?.plan.rows.some((row) => row.key === key) ?? false;
  }

  /** A request stops running: a chunk with some of it is given up. */
  abandon(sequence: Sequence): void {
    if (!this.hold(sequence)) return;
    this.chunk = undefined;
    this.kv.abandon();
  }

  private planChunk(prompts: readonly Sequence[], budget: number, now: number): Chunk | undefined {
    // The last token is sampled, and only steps do that.
    const endOf = (prompt: Sequence) => Math.min(prompt.textEnd, prompt.length - 1);
    const open = prompts.filter((prompt) => prompt.computed < endOf(prompt));
    const [group = []] = this.turns.inOrder(open);
    const { rows, started } = promptRows(byRemainingWork(group, this.cost, now), budget, endOf);
    const [first] = group;
    if (!first || rows.length === 0) return undefined;
    if (!this.kv.makeRoom(rows.length, now)) throw new Error("a chunk that does not fit the KV cache");
    this.kv.reserve(rows.length);
    rows.sort(byPlace);
    const prefillRows = rows.length;
    const { adapters, adapterKey } = first;
    const plan = { rows, adapters, started, owner: ownerOf(rows), decodeRows: 0, prefillRows, guessRows: 0, steps: 1 };
    return { plan, adapterKey, begun: false, ms: 0 };
  }
}
