// Limits the use of a model's tokenizer, which takes turns with the prompts of generations.

import type { Clock } from "../domain/clock.ts";
import type { RequestMetrics } from "../telemetry/metrics.ts";
import { Admission } from "./admission.ts";

/** Maximum number of requests running or waiting, over all routes. */
export const MOST_TOKENIZER_REQUESTS = 128;

export class TokenizerService {
  private readonly admission = new Admission(1, MOST_TOKENIZER_REQUESTS - 1, () => undefined);

  constructor(private readonly deps: { readonly metrics: Pick<RequestMetrics, "rejected">; readonly clock: Clock }) {}

  /** Runs work of an engine's tokenizer. Throws SvcError `server_busy` beyond the limit, and what the work throws. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const { metrics, clock } = this.deps;
    this.admission.enter(1, metrics);
    const started = clock.now();
    try {
      return await work();
    } finally {
      this.admission.leave(clock.now() - started);
    }
  }
}
