// Decodes where to resume the stream of a stored response.

import { fieldError } from "../../domain/errors.ts";

/**
 * Returns the number of the first event to send; undefined when no stream is requested. Throws SvcError `invalid_value`
 * naming the parameter.
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
