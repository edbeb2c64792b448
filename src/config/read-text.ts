// Files that options name.

import { readFileSync } from "node:fs";
import { UsageError } from "./parse.ts";

/** The text of a file; `what` says in the error what it is. Throws UsageError. */
export function readText(file: string, what: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    throw new UsageError(`The ${what} ${file} cannot be read (${code}).`);
  }
}
