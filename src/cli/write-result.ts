// What a command was asked for, in a file.

import { ExitError } from "./exit-codes.ts";

/** Writes a file, and the folders that it is in. Throws ExitError when that cannot be done. */
export async function writeResult(path: string, content: string | Uint8Array): Promise<void> {
  try {
    await Bun.write(path, content);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unwritable";
    throw new ExitError("failure", `${path} cannot be written (${code}).`);
  }
}
