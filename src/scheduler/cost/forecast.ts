// Estimates when requests end, from the measured steps and the lengths of earlier answers.

import type { Sequence } from "../sequence.ts";
import type { StepCost } from "./step-cost.ts";

export class Forecast {
  private readonly outputs = new OutputLength();

  constructor(
    private readonly cost: StepCost,
    /** Longest pause of running streams for other requests' prompts, in milliseconds. */
    private readonly stallBudgetMs: number,
  ) {}

  /** Whether any answer has ended. Until then, there is no estimate of how long answers are. */
  get isInformed(): boolean {
    return this.outputs.isKnown;
  }

  /** Records that an answer has ended after `tokens` tokens. */
  record(tokens: number): void {
    this.outputs.record(tokens);
  }

  /** Returns how many more tokens a request is likely to generate. */
  remaining({ maxTokens, generated }: Sequence): number {
    return Math.min(maxTokens - generated, this.outputs.remaining(generated));
  }

  /** Returns the expected milliseconds until the first of these requests ends. */
  firstEndMs(running: readonly Sequence[]): number {
    const decoding = running.filter((sequence) => sequence.decoding).length;
    // Requests of different adapters take turns.
    const sets = new Set(running.map(({ adapterKey }) => adapterKey)).size;
    const stepMs = sets * this.cost.decodeStepMs(Math.max(decoding, 1));
    const prefillMs = this.cost.prefillMs(
      running.reduce((sum, sequence) => sum + (sequence.decoding ? 0 : sequence.remaining), 0),
    );
    const ends = running.map((sequence) => {
      const steps = this.remaining(sequence);
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

/** Weight of the newest answer in the mean length. */
const NEWEST = 0.2;
/** An answer is always expected to continue for at least this share of the mean length. */
const LEAST_SHARE = 0.25;

class OutputLength {
  private mean: number | undefined;

  /** Whether any answer has ended. */
  get isKnown(): boolean {
    return this.mean !== undefined;
  }

  record(tokens: number): void {
    this.mean = this.mean === undefined ? tokens : this.mean + NEWEST * (tokens - this.mean);
  }

  /** Returns how many more tokens an answer is likely to have; Infinity until any answer has ended. */
  remaining(generated: number): number {
    if (this.mean === undefined) return Number.POSITIVE_INFINITY;
    return Math.max(this.mean - generated, this.mean * LEAST_SHARE);
  }
}
