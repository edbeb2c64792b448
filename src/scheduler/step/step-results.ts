// Applies the sampled tokens of finished steps, and learns from the time that the steps took.

import type { StepCost } from "../cost/step-cost.ts";
import type { KvCache } from "../kv/kv-cache.ts";
import { stepsMade, type Sampled, type StepPlan } from "../plan.ts";
import type { RunQueue } from "../queue/run-queue.ts";
import type { Key, Sequence } from "../sequence.ts";
import type { Speculation } from "../speculation/speculation.ts";

export class StepResults {
  constructor(
    private readonly requests: ReadonlyMap<Key, Sequence>,
    private readonly queue: RunQueue,
    private readonly kv: KvCache,
    private readonly cost: StepCost,
    private readonly speculation: Speculation,
  ) {}

  /**
   * Applies one step, or a whole chunk of prompts. `streams`, `prompts`: how many rows of each the measured time is put
   * down to.
   */
  apply(
    plan: StepPlan,
    tokens: ArrayLike<number>,
    ms: number,
    { streams, prompts }: { readonly streams: number; readonly prompts: number },
  ): Sampled[] {
    const { inUse } = this.kv;
    if (plan.speculativeRows === 0) this.cost.record(streams, prompts, ms, inUse);
    if (this.queue.running.length === 1 && streams === 0) this.cost.recordAlone(prompts, ms, inUse);
    const sampled: Sampled[] = [];
    let next = 0;
    for (const [at, row] of plan.rows.entries()) {
      const token = row.sample ? (tokens[next++] as number) : undefined;
      const sequence = this.requests.get(row.key);
      if (!sequence) continue;
      if (token !== -1) sequence.computed = row.index + 1;
      if (token !== undefined && token !== -1) {
        sequence.append(token);
        this.queue.waiting.charge(sequence.client, 0, 1);
        const more = plan.rows[at + 1]?.key === row.key && tokens[next] !== -1;
        sampled.push({ key: row.key, token, more, last: sequence.generated >= sequence.maxTokens });
      }
      if (plan.rows[at + 1]?.key !== row.key) this.kv.extend(sequence);
    }
    if (plan.prefillRows === 0) this.speculation.record(plan, (key) => this.requests.get(key), 1);
    else this.speculation.interrupted();
    return sampled;
  }

  /** Applies the steps of multi-step decoding. */
  applySteps(plan: StepPlan, tokens: ArrayLike<number>, ms: number): Sampled[] {
    const { rows, decodeRows } = plan;
    const made = stepsMade(plan, tokens);
    this.cost.record(decodeRows, 0, ms / made, this.kv.inUse);
    this.speculation.record(plan, (key) => this.requests.get(key), made);
    const sampled: Sampled[] = [];
    for (const [at, { key, index }] of rows.entries()) {
      const sequence = this.requests.get(key);
      if (!sequence) continue;
      for (let step = 0; step < made; step++) {
        const token = tokens[step * rows.length + at] as number;
        sequence.append(token);
        sampled.push({ key, token, more: step < made - 1, last: sequence.generated >= sequence.maxTokens });
      }
      sequence.computed = index + made;
      this.kv.extend(sequence);
      this.queue.waiting.charge(sequence.client, 0, made);
    }
    return sampled;
  }
}
