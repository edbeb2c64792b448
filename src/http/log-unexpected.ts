// Logs unexpected failures. Their messages may contain parts of a prompt, so only type and place are logged by default.

import type { Logger } from "../telemetry/log.ts";

/** Logs a bug at error level; its message only at debug level. */
export function logUnexpected(log: Logger, error: unknown, requestId: string): void {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  const at = stack
    ?.split("\n")
    .find((line) => /^\s*at /.test(line))
    ?.trim();
  log.error("unexpected error", { request_id: requestId, name, at });
  log.debug("unexpected error", { request_id: requestId, message });
}
