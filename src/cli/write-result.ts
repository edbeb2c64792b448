// Writes the result of a command to a file.

import { accessSync, constants, createWriteStream, statSync } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname, extname, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { HEAD_BYTES } from "../audio/encode/encoder.ts";
import { found } from "../config/found.ts";
import { didYouMean } from "../config/parse.ts";
import { fileReason, systemErrorCode } from "../domain/system-error-code.ts";
import { ExitError } from "./exit-codes.ts";
import { extensionsOfNamed, type NamedFormats } from "./file-formats.ts";

/** Throws ExitError when the path is no file name or cannot be written, before anything is computed for it. */
export function expectFileName(path: string): void {
  const isFolder = /[/\\]$/.test(path) || found(path)?.isDirectory();
  if (isFolder) throw new ExitError("usage", `-o must name a file; ${path} is a folder.`);
  expectWritable(path);
}

/** Throws ExitError when neither the file nor, if it does not exist, the folder that will contain it is writable. */
export function expectWritable(path: string): void {
  for (let at = resolve(path); ; at = dirname(at)) {
    try {
      return accessSync(at, constants.W_OK);
    } catch (error) {
      if (systemErrorCode(error) !== "ENOENT" || at === dirname(at)) throw unwritable(path, error);
    }
  }
}

/** The format from the option, and the file's name. */
export interface Wanted {
  readonly format?: string;
  readonly output?: string;
}

/**
 * Returns the format from the option, else the one that the file name's ending stands for; undefined without either.
 * Throws ExitError for an unknown ending, and for one of another format.
 */
export function formatOf(
  { format: wanted, output = "" }: Wanted,
  { formats, others }: NamedFormats,
): string | undefined {
  const ending = extname(output).slice(1).toLowerCase();
  if (ending === "") return wanted;
  const format = others[ending] ?? ending;
  if (formats.includes(format)) {
    if (wanted === undefined || wanted === format || !formats.includes(wanted)) return wanted ?? format;
    throw otherFormat(format, wanted);
  }
  if (wanted !== undefined) return wanted;
  const known = extensionsOfNamed({ formats, others });
  throw new ExitError("usage", `-o must name a file that ends in ${known}, or --format must name the format.`);
}

/** Returns the error for a --format that a command does not have, with the one that was probably meant. */
export const unknownFormat = (wanted: string, formats: readonly string[]): ExitError =>
  new ExitError("usage", `--format must be one of ${formats.join(", ")}.${didYouMean(wanted, formats)}`);

/** Returns the error for a file name whose ending stands for another format than --format names. */
export const otherFormat = (named: string, wanted: string): ExitError =>
  new ExitError("usage", `-o names a file for ${named}, and --format is ${wanted}: leave one of them out.`);

/** Writes a file, and creates the folders that contain it. Throws ExitError on failure. */
export async function writeResult(path: string, content: string | Uint8Array): Promise<void> {
  try {
    await Bun.write(path, content);
  } catch (error) {
    throw unwritable(path, error);
  }
}

/**
 * Writes a file as its parts arrive; the file is not touched before the first part. `complete` changes the file's first
 * bytes at the end. Throws ExitError, or the error of `parts`; what was written so far stays.
 */
export async function writeAsItComes(
  path: string,
  parts: AsyncGenerator<Uint8Array, void, void>,
  complete: (head: Uint8Array) => void,
): Promise<void> {
  const first = await parts.next();
  let failure: unknown;
  const all = async function* () {
    if (!first.done) yield first.value;
    try {
      yield* parts;
    } catch (error) {
      failure = error;
      throw error;
    }
  };
  try {
    // Bun on Windows finds fault with ".", because it exists.
    await mkdir(dirname(resolve(path)), { recursive: true });
    await pipeline(all, createWriteStream(path));
    if (statSync(path).isFile()) await changeHead(path, complete);
  } catch (error) {
    // Without a stream that does so, for example below a file, their source would wait to be read.
    await parts.return();
    throw failure ?? unwritable(path, error);
  }
}

async function changeHead(path: string, change: (head: Uint8Array) => void): Promise<void> {
  await using file = await open(path, "r+");
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  change(buffer);
  await file.write(buffer, 0, bytesRead, 0);
}

function unwritable(path: string, error: unknown): ExitError {
  return new ExitError("failure", `${path} cannot be written: ${fileReason(error)}.`);
}
