// What is reported of a job that failed.

import { errorMessage } from "../../domain/error-message.ts";
import { SvcError } from "../../domain/errors.ts";
import type { FromEngine, JobKey, Refusal } from "./protocol.ts";

/** What of an error the front process gets. */
export const asRefusal = ({ code, message, details: { param } }: SvcError): Refusal => ({
  code,
  message,
  ...(param !== undefined && { param }),
});

/** The refusal of a job: an SvcError as it is, of anything else `message`, and the log has the rest. */
export function refusalOf(key: JobKey, error: unknown, message: string): FromEngine<never, never>[] {
  if (error instanceof SvcError) return [{ type: "rejected", key, ...asRefusal(error) }];
  const text = errorMessage(error);
  return [
    { type: "log", level: "error", text },
    { type: "rejected", key, code: "internal_error", message },
  ];
}
