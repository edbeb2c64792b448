// Runs work that many requests may need at the same time, and refuses it beyond a limit.

import type { Clock } from "../domain/clock.ts";
import type { RequestMetrics } from "../telemetry/metrics.ts";
import { Admission } from "./admission.ts";

/** Maximum number of requests that use a model's tokenizer, which takes turns with the prompts of generations. */
export const MOST_TOKENIZER_REQUESTS = 128;
/** Maximum number of actions on slots: each needs memory or a file of its own. */
export const MOST_SLOT_ACTIONS = 32;

export class FewAtOnce {
  private readonly admission: Admission;

  /** `most`: maximum number of calls running or waiting. */
  constructor(
    most: number,
    private readonly deps: { readonly metrics: Pick<RequestMetrics, "rejected">; readonly clock: Clock },
  ) {
    this.admission = new Admission(1, most - 1, () => undefined, deps.clock);
  }

  /** Runs work. Throws SvcError `server_busy` beyond the limit, and what the work throws. */
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
