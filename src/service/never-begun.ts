// Stands in for a generation that was cancelled before the engine received it.

import { cancelledReason, type CancelCause } from "../domain/cancel.ts";
import type { GenerateEvent } from "../domain/generate.ts";
import { noUsage } from "../domain/usage.ts";

/** Emits the events of a request for `answers` answers that was cancelled before any computation. */
export async function* neverBegun(answers: number, cause: CancelCause): AsyncGenerator<GenerateEvent, void, void> {
  const reason = cancelledReason(cause);
  yield { type: "accepted", promptTokens: 0, downgraded: false };
  for (let choice = 0; choice < answers; choice++) {
    yield { type: "finish", reason, usage: noUsage(), ...(answers > 1 && { choice }) };
  }
}
