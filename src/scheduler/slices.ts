// Prompts beside streams, where a chunk of them can be paused: between two steps, so much is computed as takes a slice's time.

import type { KvCache } from "./kv-cache.ts";
import { byPlace, ownerOf, type SlicePlan, type StepPlan } from "./plan.ts";
import { byRemainingWork, promptRows, type PrefillBudget } from "./prefill.ts";
import type { Sequence } from "./sequence.ts";
import type { StepCost } from "./step-cost.ts";

interface Chunk {
  readonly plan: StepPlan;
  /** It has had a slice. */
  begun: boolean;
  /** What its slices took so far, in milliseconds. */
  ms: number;
}

/** What is left of a slice's time is used from this share of it on. */
const WORTHWHILE = 0.25;

export class Slices {
  private chunk: Chunk | undefined;
  /** Milliseconds of the slice since the last step. */
  private spent = 0;

  constructor(
    /** Most rows of a chunk. */
    private readonly rows: number,
    private readonly kv: KvCache,
    private readonly cost: StepCost,
    private readonly budget: PrefillBudget,
  ) {}

  /** The next slice, when one is due. `room`: cells that the chunk may fill. */
  plan(streams: number, prompts: readonly Sequence[], room: number, now: number): SlicePlan | undefined {
    if (this.rows === 0) return undefined;
    const ms = this.budget.sliceMs(streams, prompts);
    const left = ms - (streams > 0 ? this.spent : 0);
    const isOver = left < WORTHWHILE * ms;
    if (streams > 0 && !isOver) this.chunk ??= this.planChunk(prompts, Math.min(this.rows, room), now);
    if (isOver || !this.chunk) {
      this.spent = 0;
      return undefined;
    }
    return { chunk: this.chunk.plan, begins: !this.chunk.begun, ms: left };
  }

  /** Takes in a slice: its chunk is done, or there is more of it, or it was given up. Returns a chunk that is done. */
  apply(result: "done" | "paused" | "given up", ms: number): Chunk | undefined {
    const { chunk } = this;
    if (!chunk) return undefined;
    chunk.begun = true;
    chunk.ms += ms;
    this.spent += ms;
    if (result === "paused") return undefined;
    this.chunk = undefined;
    this.kv.reserve(0);
    return result === "done" ? chunk : undefined;
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
    const { rows, started } = promptRows(byRemainingWork(open, this.cost, now), budget, endOf);
    if (rows.length === 0) return undefined;
    if (!this.kv.makeRoom(rows.length, now)) throw new Error("a chunk that does not fit the KV cache");
    this.kv.reserve(rows.length);
    rows.sort(byPlace);
    const prefillRows = rows.length;
    const plan = { rows, started, owner: ownerOf(rows), decodeRows: 0, prefillRows, guessRows: 0, steps: 1 };
    return { plan, begun: false, ms: 0 };
  }
}
