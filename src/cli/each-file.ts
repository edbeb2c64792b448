// What commands on files have in common: one after the other, standard input among them, results to files or standard output.

import { createWriteStream, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, extname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ExitError } from "./exit-codes.ts";
import { writeOut } from "./write-out.ts";
import { writeResult } from "./write-result.ts";

export interface Results {
  /** Of the results' names, by formats. */
  readonly endings: Readonly<Record<string, string>>;
  readonly format: string;
  /** Folder for the results, one file each; absent: they go to standard output. */
  readonly output?: string;
}

/** Checks what can be checked before anything is computed. Throws ExitError. */
export function checkFiles(files: readonly string[], results: Results): void {
  namesOf(files, results);
}

/**
 * Hands each file to `work`, by its absolute path; `-` is standard input, which is put into a file that ends with it. What it
 * returns is written, or printed. Throws ExitError, naming the file that it is about.
 */
export async function eachFile(
  files: readonly string[],
  results: Results,
  signal: AbortSignal,
  work: (path: string) => Promise<string>,
): Promise<void> {
  const names = namesOf(files, results);
  for (const [at, file] of files.entries()) {
    const name = file === "-" ? "standard input" : file;
    tell(`[${at + 1}/${files.length}] ${name}`);
    const text = await withPath(file, signal, work).catch((error: unknown) => {
      throw error instanceof ExitError ? new ExitError(error.reason, `${name}: ${error.message}`) : error;
    });
    const result = names[at];
    const whole = text.endsWith("\n") ? text : `${text}\n`;
    if (result !== undefined) await writeResult(result, whole);
    else if (!(await writeOut(files.length > 1 ? `${name}:\n${whole}\n` : whole))) return;
  }
  tell("");
}

/** The files for the results, where there are to be any. Throws ExitError about what cannot come out well. */
function namesOf(files: readonly string[], { endings, format, output }: Results): readonly string[] {
  const ending = Object.hasOwn(endings, format) ? endings[format] : undefined;
  if (ending === undefined) {
    throw new ExitError("usage", `--format must be one of ${Object.keys(endings).join(", ")}.`);
  }
  const missing = files.find((file) => file !== "-" && !existsSync(file));
  if (missing !== undefined) throw new ExitError("failure", `${missing}: there is no such file.`);
  if (output === undefined) return [];
  const stem = (file: string) => (file === "-" ? "stdin" : basename(file, extname(file)));
  const results = files.map((file) => join(output, `${stem(file)}.${ending}`));
  const twice = results.find((result, at) => results.indexOf(result) !== at);
  if (twice !== undefined) throw new ExitError("usage", `The results of two files would both be ${twice}.`);
  return results;
}

async function withPath<T>(file: string, signal: AbortSignal, work: (path: string) => Promise<T>): Promise<T> {
  if (file !== "-") return work(resolve(file));
  const folder = mkdtempSync(join(tmpdir(), "svc-stdin-"));
  try {
    const path = join(folder, "input");
    await pipeline(Readable.fromWeb(Bun.stdin.stream()), createWriteStream(path), { signal });
    return await work(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Where somebody looks on: which file is read. */
function tell(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\x1b[K${text.slice(0, (process.stderr.columns || 80) - 1)}\r`);
}
