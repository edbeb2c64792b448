// Estimates when requests end, from the steps and answers so far.

import type { Sequence } from "../sequence.ts";
import type { StepCost } from "./step-cost.ts";

export class Forecast {
  private readonly outputs = new OutputLength();

  constructor(
    private readonly cost: StepCost,
    /** Longest pause of running streams for other requests' prompts, in milliseconds. */
    private readonly stallBudgetMs: number,
  ) {}

  /** Whether any answer has ended: without one there is no estimate of the others' length. */
  get isInformed(): boolean {
    return this.outputs.isKnown;
  }

  /** An answer of so many tokens has ended. */
  record(tokens: number): void {
    this.outputs.record(tokens);
  }

  /** Tokens that a request is likely to generate still. */
  remaining({ maxTokens, generated }: Sequence): number {
    return Math.min(maxTokens - generated, this.outputs.remaining(generated));
  }

  /** Milliseconds until the first of these requests ends. */
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

  /** Least milliseconds that so many prompt tokens take; 0 until anything was measured. */
  promptMs(tokens: number): number {
    return this.cost.prefillTokenMs === undefined ? 0 : this.cost.prefillMs(tokens);
  }
}

/** Weight of the newest answer. */
const NEWEST = 0.2;
/** An answer that is longer than the mean is expected to go on for this share of the mean. */
const LEAST_SHARE = 0.25;

class OutputLength {
  private mean: number | undefined;

  /** Any answer has ended. */
  get isKnown(): boolean {
    return this.mean !== undefined;
  }

  record(tokens: number): void {
    this.mean = this.mean === undefined ? tokens : this.mean + NEWEST * (tokens - this.mean);
  }

  /** Tokens that an answer is likely to generate still; infinite before any has ended. */
  remaining(generated: number): number {
    if (this.mean === undefined) return Number.POSITIVE_INFINITY;
    return Math.max(this.mean - generated, this.mean * LEAST_SHARE);
  }
}
