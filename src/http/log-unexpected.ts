// Failures that nobody foresaw. Their message may hold parts of a prompt: only kind and place are for everybody's log.

import type { Logger } from "../telemetry/log.ts";

/** Logs a bug at error level, its message at debug level only. */
export function logUnexpected(log: Logger, error: unknown, requestId: string): void {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  const at = stack
    ?.split("\n")
    .find((line) => /^\s*at /.test(line))
    ?.trim();
  log.error("unexpected error", { request_id: requestId, name, at });
  log.debug("unexpected error", { request_id: requestId, message });
}
