// What is asked of a model's tokenizer, so many requests at once: they take turns with the prompts of generations.

import type { Clock } from "../domain/clock.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { Admission, admitted } from "./admission.ts";

/** Requests that may be in work or wait, of all routes together. */
export const MOST_TOKENIZER_REQUESTS = 128;

export class TokenizerService {
  private readonly admission = new Admission(1, MOST_TOKENIZER_REQUESTS - 1, () => undefined);

  constructor(private readonly deps: { readonly metrics: Pick<Metrics, "rejected">; readonly clock: Clock }) {}

  /** Does what an engine's tokenizer is asked. Throws SvcError `server_busy` beyond the limit, and what the work throws. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return admitted(this.admission, this.deps, work);
  }
}
