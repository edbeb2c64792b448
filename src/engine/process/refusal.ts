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

/** Tells that a job is refused: with an SvcError as it is, with anything else as `message`, and the log has the rest. */
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
