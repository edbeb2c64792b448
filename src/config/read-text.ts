// Files that options name.

import { readFileSync, statSync } from "node:fs";
import { fileReason } from "../domain/system-error-code.ts";
import { UsageError } from "./parse.ts";

/** `<(…)` and standard input: somebody writes into these already. */
const SHELL_PIPE = /^\/(?:dev\/(?:fd\/|stdin$)|proc\/)/;

/** The text of a file; `what` says in the error what it is. Throws UsageError. */
export function readText(file: string, what: string): string {
  // Reading it would wait for whoever writes into it, and for ever once more at a reload.
  if (!SHELL_PIPE.test(file) && statSync(file, { throwIfNoEntry: false })?.isFIFO())
    throw new UsageError(`The ${what} ${file} is a named pipe: name a regular file, or <(…) of a shell.`);
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`The ${what} ${file} cannot be read: ${fileReason(error)}.`);
  }
}
