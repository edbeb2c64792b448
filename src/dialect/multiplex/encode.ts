// Encodes events of a multiplex batch: those of chat completions, each with the name of its item.

import { errorObject } from "../../contract/errors.ts";
import type { MultiplexFailure } from "../../contract/multiplex.ts";
import type { SvcError } from "../../domain/errors.ts";

/** Returns a function that adds the item's name, and whether its strict schema is unenforced, to an object's JSON. */
export function eventTagger(customId: string, downgraded: boolean): (event: string) => string {
  const constraints = downgraded ? `,"grammar_constraints":"downgraded"` : "";
  const head = `{"custom_id":${JSON.stringify(customId)}${constraints},`;
  return (event) => head + event.slice(1);
}

/** Encodes the event of a failed item; its field names are those of the item's body. */
export function encodeFailure(customId: string, error: SvcError, requestId: string): string {
  const failure: MultiplexFailure = {
    custom_id: customId,
    object: "batch.error",
    error: { ...errorObject(error, requestId), custom_id: customId },
  };
  return JSON.stringify(failure);
}
