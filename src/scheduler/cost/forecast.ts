// Estimates when requests end, from the measured steps and the lengths of earlier answers.

import type { Sequence } from "../sequence.ts";
import type { StepCost } from "./step-cost.ts";

/** Weight of the newest answer in the mean length. */
const NEWEST = 0.2;
/** An answer is always expected to continue for at least this share of the mean length. */
const LEAST_SHARE = 0.25;

export class Forecast {
  /** Mean length of answers in tokens; undefined until one has ended. */
  private mean: number | undefined;

  constructor(
    private readonly cost: StepCost,
    /** Longest pause of running streams for other requests' prompts, in milliseconds. */
    private readonly stallBudgetMs: number,
  ) {}

  /** Whether any answer has ended. Until then, there is no estimate of how long answers are. */
  get isInformed(): boolean {
    return this.mean !== undefined;
  }

  /** Records that an answer has ended after `tokens` tokens. */
  record(tokens: number): void {
    this.mean = this.mean === undefined ? tokens : this.mean + NEWEST * (tokens - this.mean);
  }

  /** Returns how many more tokens a request is likely to generate. */
  likelyLeft({ maxTokens, generated }: Sequence): number {
    const { mean = Number.POSITIVE_INFINITY } = this;
    return Math.min(maxTokens - generated, Math.max(mean - generated, mean * LEAST_SHARE));
  }

  /** Returns the expected milliseconds until the first of these requests ends. */
  firstEndMs(running: readonly Sequence[]): number {
    const decoding = running.filter((sequence) => sequence.decoding).length;
    // Requests of different adapters take turns.
    const sets = new Set(running.map(({ adapterKey }) => adapterKey)).size;
    const stepMs = sets * this.cost.decodeStepMs(Math.max(decoding, 1));
    const prefillMs = this.cost.prefillMs(
      running.reduce((sum, sequence) => sum + (sequence.decoding ? 0 : sequence.uncomputed), 0),
    );
    const ends = running.map((sequence) => {
      const steps = this.likelyLeft(sequence);
      // Beside a stream, each step computes at most a chunk of prompts that fits the stall budget.
      const beside = sequence.decoding ? Math.min(prefillMs, steps * this.stallBudgetMs) : prefillMs;
      return steps * stepMs + beside;
    });
    return Math.min(...ends);
  }

  /** Returns the fewest milliseconds that `tokens` prompt tokens take; 0 until a prompt has been measured. */
  promptMs(tokens: number): number {
    return this.cost.prefillTokenMs === undefined ? 0 : this.cost.prefillMs(tokens);
  }
}
