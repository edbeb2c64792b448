// Warns at the start of a data folder that cannot be used: nothing is created there before a client stores something.

import { mkdtempSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { nearestExisting } from "../config/folders.ts";
import { fileReason } from "../domain/system-error-code.ts";
import type { Logger } from "../telemetry/log.ts";

/** Logs a warning when files and batches cannot be stored. */
export function warnOfDataFolder({ dataDir }: Pick<Config, "dataDir">, log: Logger): void {
  try {
    // Whether a folder can be created is only known by creating one: root may write everywhere, also in /proc.
    rmdirSync(mkdtempSync(join(nearestExisting(dataDir), ".svc-")));
  } catch (error) {
    log.warn(`files and batches cannot be stored in ${dataDir} (--data-dir): ${fileReason(error)}`);
  }
}
