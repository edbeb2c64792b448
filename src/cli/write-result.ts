// What a command was asked for, in a file.

import { statSync } from "node:fs";
import { systemErrorCode } from "../domain/system-error-code.ts";
import { ExitError } from "./exit-codes.ts";

/** Throws ExitError about what is no name for a file, before anything is computed for it. */
export function expectFileName(path: string): void {
  const isFolder = /[/\\]$/.test(path) || statSync(path, { throwIfNoEntry: false })?.isDirectory();
  if (isFolder) throw new ExitError("usage", `-o must name a file; ${path} is a folder.`);
}

/** Writes a file, and the folders that it is in. Throws ExitError when that cannot be done. */
export async function writeResult(path: string, content: string | Uint8Array): Promise<void> {
  try {
    await Bun.write(path, content);
  } catch (error) {
    const code = systemErrorCode(error) ?? "unwritable";
    throw new ExitError("failure", `${path} cannot be written (${code}).`);
  }
}
