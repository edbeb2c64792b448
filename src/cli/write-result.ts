// What a command was asked for, in a file.

import { statSync } from "node:fs";
import { extname } from "node:path";
import { systemErrorCode } from "../domain/system-error-code.ts";
import { ExitError } from "./exit-codes.ts";

/** Throws ExitError about what is no name for a file, before anything is computed for it. */
export function expectFileName(path: string): void {
  const isFolder = /[/\\]$/.test(path) || statSync(path, { throwIfNoEntry: false })?.isDirectory();
  if (isFolder) throw new ExitError("usage", `-o must name a file; ${path} is a folder.`);
}

/**
 * The format that the ending of a file's name says; undefined: it has none, or there is no file. `others`: endings that mean
 * another one's format. Throws ExitError about an unknown ending.
 */
export function formatByName(
  path: string | undefined,
  formats: readonly string[],
  others: Readonly<Record<string, string>>,
): string | undefined {
  const ending = extname(path ?? "")
    .slice(1)
    .toLowerCase();
  if (ending === "") return undefined;
  const format = others[ending] ?? ending;
  if (formats.includes(format)) return format;
  const known = [...formats, ...Object.keys(others)].map((one) => `.${one}`);
  const list = `${known.slice(0, -1).join(", ")} or ${known.at(-1)}`;
  throw new ExitError("usage", `-o must name a file that ends in ${list}; or --format says what it is.`);
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
