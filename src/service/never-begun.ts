// A generation that was cancelled before its engine knew it.

import { cancelledReason, type CancelCause } from "../domain/cancel.ts";
import type { GenerateEvent } from "../domain/generate.ts";
import { noUsage } from "../domain/usage.ts";

/** The events of a request for so many answers that was cancelled before anything of it was computed. */
export async function* neverBegun(answers: number, cause: CancelCause): AsyncGenerator<GenerateEvent, void, void> {
  const reason = cancelledReason(cause);
  yield { type: "accepted", promptTokens: 0, downgraded: false };
  for (let choice = 0; choice < answers; choice++) {
    yield { type: "finish", reason, usage: noUsage(), ...(answers > 1 && { choice }) };
  }
}
