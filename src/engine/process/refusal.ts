// What is reported of a job that failed.

import { errorMessage } from "../../domain/error-message.ts";
import { SvcError } from "../../domain/errors.ts";
import type { FromEngine, JobKey } from "./protocol.ts";

/** The refusal of a job: an SvcError as it is, of anything else `message`, and the log has the rest. */
export function refusalOf(key: JobKey, error: unknown, message: string): FromEngine<never, never>[] {
  if (error instanceof SvcError) {
    const { param } = error.details;
    const { code } = error;
    return [{ type: "rejected", key, code, message: error.message, ...(param !== undefined && { param }) }];
  }
  const text = errorMessage(error);
  return [
    { type: "log", level: "error", text },
    { type: "rejected", key, code: "internal_error", message },
  ];
}
