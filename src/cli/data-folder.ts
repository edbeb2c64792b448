// Warns at the start of a data folder that cannot be used: nothing is created there before a client stores something.

import { existsSync, mkdtempSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "../config/config.ts";
import { fileReason } from "../domain/system-error-code.ts";
import type { Logger } from "../telemetry/log.ts";

/** Logs a warning when files and batches cannot be stored. */
export function warnOfDataFolder({ dataDir }: Pick<Config, "dataDir">, log: Logger): void {
  try {
    // Whether a folder can be created is only known by creating one: root may write everywhere, also in /proc.
    rmdirSync(mkdtempSync(join(nearestThere(dataDir), ".svc-")));
  } catch (error) {
    log.warn(`files and batches cannot be stored in ${dataDir} (--data-dir): ${fileReason(error)}`);
  }
}

/** Returns the path, or what exists nearest above it. */
function nearestThere(path: string): string {
  const above = dirname(path);
  return existsSync(path) || above === path ? path : nearestThere(above);
}
