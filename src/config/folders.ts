// Checks the folders that options name, so that errors are reported at start, not by the first request that needs one.

import { dirname } from "node:path";
import { found } from "./found.ts";
import { UsageError } from "./parse.ts";

/** Options whose folders svc reads, but never creates. */
const FOUND = ["media-root", "piper-voices", "ocr-data"];
/** Options whose folders svc creates when needed. */
const MADE = ["data-dir", "models-dir"];

/** Throws UsageError for a missing folder or another file. `given`: returns the absolute path of an option, if set. */
export function checkFolders(given: (option: string) => unknown): void {
  for (const option of [...FOUND, ...MADE]) {
    const path = given(option);
    if (typeof path !== "string") continue;
    if (FOUND.includes(option) && !found(path)) throw new UsageError(`--${option}: there is no folder ${path}.`);
    const existing = nearestExisting(path);
    if (!found(existing)?.isDirectory()) throw new UsageError(`--${option}: ${existing} is not a folder.`);
  }
}

/** Returns the path if it exists, else its nearest parent that does. */
export function nearestExisting(path: string): string {
  const parent = dirname(path);
  return found(path) || parent === path ? path : nearestExisting(parent);
}
