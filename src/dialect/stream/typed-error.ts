// A failure in the middle of a stream, as something a client may read.

import { SvcError } from "../../domain/errors.ts";

/** The failure itself when it was meant for clients; others go to `onUnexpected`, and the client reads a fixed sentence. */
export function typedError(error: unknown, onUnexpected: (error: unknown) => void): SvcError {
  if (error instanceof SvcError) return error;
  onUnexpected(error);
  return new SvcError("internal_error", "An internal error occurred.");
}
