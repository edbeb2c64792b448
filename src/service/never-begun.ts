// A generation that was cancelled before its engine knew it.

import type { GenerateEvent } from "../domain/generate.ts";
import { noUsage } from "../domain/usage.ts";

/** What an engine tells of a request for so many answers that was cancelled before anything of it was computed. */
export async function* neverBegun(answers: number): AsyncGenerator<GenerateEvent, void, void> {
  yield { type: "accepted", promptTokens: 0, downgraded: false };
  for (let choice = 0; choice < answers; choice++) {
    yield { type: "finish", reason: "cancelled", usage: noUsage(), ...(answers > 1 && { choice }) };
  }
}
