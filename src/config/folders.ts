// Folders that options name: what cannot work is told at the start, not by the first request that needs them.

import { statSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { UsageError } from "./parse.ts";

/** Read from, and never made by svc. */
const FOUND = ["media-root", "piper-voices", "ocr-data"];
/** Made when needed. */
const MADE = ["data-dir", "models-dir"];

/** `given`: the absolute path that an option has, if any. Throws UsageError about a folder that is missing or none. */
export function checkFolders(given: (option: string) => unknown): void {
  for (const option of [...FOUND, ...MADE]) {
    const path = given(option);
    if (typeof path !== "string") continue;
    if (FOUND.includes(option) && !found(path)) throw new UsageError(`--${option}: there is no folder ${path}.`);
    const existing = nearestExisting(path);
    if (!found(existing)?.isDirectory()) throw new UsageError(`--${option}: ${existing} is no folder.`);
  }
}

/** The path itself, or that of the folder in which its missing part would be. */
function nearestExisting(path: string): string {
  const parent = dirname(path);
  return found(path) || parent === path ? path : nearestExisting(parent);
}

function found(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // Below a file, or in a folder that is closed to us: it says so when it is used.
    return undefined;
  }
}
