// What commands on files share: they process files in order, standard input among them, write results to files or
// standard output, and show progress.

import { accessSync, constants, createWriteStream, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Config } from "../config/config.ts";
import { newRequestId } from "../domain/ids.ts";
import type { Progress } from "../domain/request-record.ts";
import { fileReason } from "../domain/system-error-code.ts";
import { TemporaryFolder } from "../store/temporary-folder.ts";
import { ExitError, orExit, type ExitReason } from "./exit-codes.ts";
import { commandProgress, SLOW_RATE_MS, type Measure, type ProgressLine } from "./progress-line.ts";
import type { ResultFiles } from "./result-files.ts";
import { writeError } from "./terminal.ts";
import { writeOut } from "./write-out.ts";
import { writeResult } from "./write-result.ts";

/** Name of the copy of standard input. */
const INPUT = "input";

interface FileWork {
  readonly config: Config;
  readonly results: ResultFiles;
  /** What failed, as the end of an error message: `recordings could not be transcribed`. */
  readonly failure: string;
  readonly measure: Measure;
  /** Progress of the request with this id; undefined before the request has begun. */
  readonly progressOf: (id: string) => Progress | undefined;
  readonly signal: AbortSignal;
  /** Returns the result for a file, given by its absolute path, using a request with this id. Throws ExitError. */
  readonly work: (path: string, id: string) => Promise<string>;
}

/** Throws ExitError when the only file is missing, before anything is loaded. */
export function expectOne(files: readonly string[]): void {
  const [only, another] = files;
  if (only !== undefined && another === undefined) expectThere(only);
}

/**
 * Processes the files; `-` is standard input, which is first copied to a temporary file. When one of several files
 * fails, the failure is reported and the others continue. Throws ExitError.
 */
export async function eachFile(files: readonly string[], options: FileWork): Promise<void> {
  const { config, results, failure, measure, signal } = options;
  const inputs = files.filter((file) => file === "-").length;
  if (inputs > 1) throw new ExitError("usage", `Standard input can be named once; got ${inputs} times.`);
  const shown = commandProgress(config, measure, SLOW_RATE_MS);
  const failed: ExitReason[] = [];
  for (const [at, file] of files.entries()) {
    const name = file === "-" ? "standard input" : file;
    const path = results.paths[at];
    try {
      const label = files.length === 1 ? name : `[${at + 1}/${files.length}] ${name}`;
      const text = await resultOf(file, label, shown, options);
      if (path !== undefined) {
        await writeResult(path, text);
        shown.note(`${name}: ${path}`);
      } else if (!(await writeOut(files.length === 1 ? text : ofSeveral(name, text, results.format)))) return;
    } catch (error) {
      if (!(error instanceof ExitError) || signal.aborted) throw error;
      if (files.length === 1) throw new ExitError(error.reason, failureMessage(error, name));
      writeError(failureMessage(error, name), config.logFormat);
      failed.push(error.reason);
    }
  }
  if (failed.length === 0) return;
  const reason = failed.every((one) => one === "usage") ? "usage" : "failure";
  throw new ExitError(reason, `${failed.length} of ${files.length} ${failure}.`);
}

async function resultOf(
  file: string,
  label: string,
  shown: ProgressLine,
  { progressOf, signal, work }: FileWork,
): Promise<string> {
  const id = newRequestId();
  const state = () => {
    const { done, of: total } = progressOf(id) ?? { done: 0 };
    return { name: label, done, ...(total !== undefined && { total }) };
  };
  shown.begin();
  const folder = file === "-" ? await folderOfInput(signal) : undefined;
  try {
    expectThere(file);
    const path = folder === undefined ? resolve(file) : join(folder.path, INPUT);
    const text = await shown.during(state, () => work(path, id));
    return text.endsWith("\n") ? text : `${text}\n`;
  } finally {
    folder?.remove();
  }
}

/** Copies standard input to a new temporary folder, as INPUT. Throws ExitError, or the error of an aborted copy. */
async function folderOfInput(signal: AbortSignal): Promise<TemporaryFolder> {
  let folder: TemporaryFolder | undefined;
  try {
    folder = new TemporaryFolder(tmpdir(), "stdin");
    const copy = createWriteStream(join(folder.path, INPUT));
    await pipeline(Readable.fromWeb(Bun.stdin.stream()), copy, { signal });
    return folder;
  } catch (error) {
    folder?.remove();
    if (signal.aborted) throw error;
    throw new ExitError("failure", `it cannot be copied to ${tmpdir()}: ${fileReason(error)}.`);
  }
}

/** Throws ExitError when the file is missing, no regular file, or not readable. */
function expectThere(file: string): void {
  if (file === "-") return;
  const unreadable = (error: unknown) => `${file}: it cannot be read: ${fileReason(error)}.`;
  // A path below a file, or of a name that is too long, throws all the same.
  const found = orExit(() => statSync(file, { throwIfNoEntry: false }), unreadable);
  if (!found) throw new ExitError("failure", `${file}: there is no such file.`);
  if (found.isDirectory()) throw new ExitError("failure", `${file}: it is a folder.`);
  // A pipe made by the shell, such as `<(…)`.
  if (!found.isFile())
    throw new ExitError("failure", `${file}: it is not a regular file; send it to standard input, named -.`);
  orExit(() => accessSync(file, constants.R_OK), unreadable);
}

/** Returns the message with the file's name in place of the request field `file`. */
const failureMessage = ({ message }: ExitError, name: string): string =>
  message.startsWith(`${name}: `) ? message : `${name}: ${message.replace(/^'file' /, "it ")}`;

/** Formats one of several results for standard output: under its name, or as one line of JSON. */
function ofSeveral(file: string, text: string, format: string): string {
  return format.endsWith("json") ? `${JSON.stringify({ file, ...JSON.parse(text) })}\n` : `${file}:\n${text}\n`;
}
