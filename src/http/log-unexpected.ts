// Logs unexpected failures. Their messages may contain parts of a prompt, so only types and places are logged.

import type { Logger } from "../telemetry/log.ts";

/** Logs a bug at error level; the calls that led to it only at debug level. */
export function logUnexpected(log: Logger, error: unknown, requestId: string): void {
  const { name, message, stack = "" } = error instanceof Error ? error : new Error(String(error));
  // A line of the message may look like a call.
  const calls = stack
    .replace(message, "")
    .split("\n")
    .filter((line) => /^\s*at /.test(line))
    .map((line) => line.trim());
  log.error("unexpected error", { request_id: requestId, name, at: calls[0] });
  log.debug("unexpected error", { request_id: requestId, calls: calls.join(", ") });
}
