// Plans the steps that compute images and sound: separate steps in interludes, alternating with prompts.

import type { StepCost } from "../cost/step-cost.ts";
import type { KvCache } from "../kv/kv-cache.ts";
import type { SchedulerLimits } from "../limits.ts";
import type { MediaStep } from "../plan.ts";
import type { RunQueue } from "../queue/run-queue.ts";
import type { Sequence } from "../sequence.ts";
import type { Interlude } from "./interlude.ts";
import { byRemainingWork, unfinished, type PrefillBudget } from "./prefill.ts";

export class MediaSteps {
  /** Whether a medium was computed last, not a prompt. */
  private before = false;

  constructor(
    private readonly limits: SchedulerLimits,
    private readonly queue: RunQueue,
    private readonly kv: KvCache,
    private readonly cost: StepCost,
    private readonly budget: PrefillBudget,
    private readonly interlude: Interlude,
  ) {}

  /** Plans the next piece of a medium, if one is due. */
  plan(now: number): MediaStep | undefined {
    const { running, streams } = this.queue;
    const prompts = unfinished(running);
    if (this.before && prompts.some(({ mediaNext }) => !mediaNext)) {
      this.before = false;
      return undefined;
    }
    const ms = this.interlude.leftOf(this.budget.pauseMs(streams.length), streams);
    if (ms === 0) return undefined;
    const { batch } = this.limits;
    const most = streams.length > 0 ? Math.min(batch, this.cost.tokensBeside(ms)) : batch;
    for (const sequence of byRemainingWork(prompts, this.cost, now)) {
      const span = sequence.mediaNext;
      if (!span) continue;
      const offset = sequence.computed - span.start;
      const count = span.whole ? span.tokens : Math.min(span.tokens - offset, most);
      if (!this.kv.ensureFree(count, now)) continue;
      this.before = true;
      const position = sequence.position(span.start);
      const step = { key: sequence.key, sequence: sequence.id, adapters: sequence.adapters, span, offset };
      const starts = !sequence.started;
      sequence.started = true;
      return { ...step, count, position, starts };
    }
    return undefined;
  }

  /** Applies the result of a piece of a medium; unless `done`, the whole medium is computed again. */
  apply(sequence: Sequence, { span, count }: MediaStep, done: boolean): void {
    sequence.computed = done ? sequence.computed + count : span.start;
    if (done) this.kv.extend(sequence);
    else this.kv.noteCleared(sequence);
  }
}
