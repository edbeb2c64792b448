// Reads text files that options name.

import { readFileSync } from "node:fs";
import { fileReason } from "../domain/system-error-code.ts";
import { found } from "./found.ts";
import { UsageError } from "./parse.ts";

/** `<(…)` and standard input: these already have a writer. */
const SHELL_PIPE = /^\/(?:dev\/(?:fd\/|stdin$)|proc\/)/;

/** Returns whether the file can be read only once. */
export const isShellPipe = (file: string): boolean => SHELL_PIPE.test(file) && !found(file)?.isFile();

/** Returns the text of a file; `what` names the kind of file in errors. Throws UsageError. */
export function readText(file: string, what: string): string {
  // Reading a named pipe would block until a writer opens it, and forever at a reload.
  if (!SHELL_PIPE.test(file) && found(file)?.isFIFO())
    throw new UsageError(`The ${what} ${file} is a named pipe: name a regular file, or <(…) of a shell.`);
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`The ${what} ${file} cannot be read: ${fileReason(error)}.`);
  }
}
