// Where in the stream of a stored response a client wants to go on.

import { fieldError } from "../../domain/errors.ts";

/**
 * The number of the first event that is wanted; undefined when no stream is. Throws SvcError `invalid_value` naming the
 * parameter.
 */
export function decodeResumption(query: URLSearchParams): number | undefined {
  const stream = query.get("stream") ?? "false";
  if (stream !== "true" && stream !== "false") {
    throw fieldError("invalid_value", "stream", "must be true or false");
  }
  const after = query.get("starting_after");
  if (after !== null && !/^\d{1,15}$/.test(after)) {
    throw fieldError("invalid_value", "starting_after", "must be the sequence_number of an event, an integer from 0");
  }
  if (stream === "false") return undefined;
  return after === null ? 0 : Number(after) + 1;
}
