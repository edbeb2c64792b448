// Why work ends early. The cause travels with the cancellation, so that the outcome need not be rewritten afterwards.

import type { FinishReason } from "./usage.ts";

/**
 * `client`: the client disconnected · `id`: cancelled by correlation id · `deadline`: the request's time is over ·
 * `shutdown`: the server stops.
 */
export type CancelCause = "client" | "id" | "deadline" | "shutdown";

/** Returns the finish reason of a cancelled generation: at a deadline, the output so far counts as the answer. */
export const cancelledReason = (cause: CancelCause): FinishReason => (cause === "deadline" ? "length" : "cancelled");
