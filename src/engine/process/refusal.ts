// Reports to the front process that a job failed.

import { errorMessage } from "../../domain/error-message.ts";
import { SvcError } from "../../domain/errors.ts";
import type { FromEngine, JobKey, Refusal } from "./protocol.ts";

/** Returns what the front process needs to know of an error. */
export const asRefusal = ({ code, message, details: { param, busy } }: SvcError): Refusal => ({
  code,
  message,
  ...(param !== undefined && { param }),
  ...(busy && { busy }),
});

/** Refuses a job: an SvcError is sent as it is; for anything else `message` is sent, and the error goes to the log. */
export function sendRefusal(
  send: (message: FromEngine<never, never>) => void,
  key: JobKey,
  error: unknown,
  message: string,
): void {
  if (error instanceof SvcError) return send({ type: "rejected", key, ...asRefusal(error) });
  send({ type: "log", level: "error", text: errorMessage(error) });
  send({ type: "rejected", key, code: "internal_error", message });
}
