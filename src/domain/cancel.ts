// Why work ends early. The cause travels with the cancellation, so that nobody has to rewrite the outcome afterwards.

import type { FinishReason } from "./usage.ts";

/**
 * `client`: nobody reads the answer any more · `id`: cancelled by its correlation id · `deadline`: its time is over ·
 * `shutdown`: the server stops.
 */
export type CancelCause = "client" | "id" | "deadline" | "shutdown";

/** How a generation ends that was cancelled: at its deadline, what is there is the answer. */
export const cancelledReason = (cause: CancelCause): FinishReason => (cause === "deadline" ? "length" : "cancelled");
