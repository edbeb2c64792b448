// What commands on files share: they process files in order, standard input among them, write results to files or
// standard output, and show progress.

import { accessSync, constants, createWriteStream, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Config } from "../config/config.ts";
import { newRequestId } from "../domain/ids.ts";
import { fileReason } from "../domain/system-error-code.ts";
import { TemporaryFolder } from "../store/temporary-folder.ts";
import { ExitError, orExit, type ExitReason } from "./exit-codes.ts";
import type { Formats } from "./file-formats.ts";
import { withApi, type Api } from "./in-process.ts";
import { commandProgress, SLOW_RATE_MS, type Measure, type ProgressLine } from "./progress-line.ts";
import { resultFiles } from "./result-files.ts";
import type { GivenFiles } from "./runtime.ts";
import { writeError } from "./terminal.ts";
import { writeOut } from "./write-out.ts";
import { writeResult, type Wanted } from "./write-result.ts";

/** Name of the copy of standard input. */
const INPUT = "input";

interface FileWork {
  readonly formats: Formats;
  /** The models that `work` uses. */
  readonly uses: keyof GivenFiles;
  /** What failed, as the end of an error message: `recordings could not be transcribed`. */
  readonly failure: string;
  readonly measure: Measure;
  /** Returns the result for the file at an absolute path, using a request with this id. Throws ExitError. */
  readonly work: (
    ask: Api["ask"],
    file: { readonly path: string; readonly id: string; readonly format: string },
  ) => Promise<string>;
}

/**
 * Processes the files in order; `-` is standard input, which is first copied to a temporary file. When one of several
 * fails, the failure is reported and the others continue. Returns the exit code. Throws as `withApi` does.
 */
export function eachFile(
  config: Config,
  files: readonly string[],
  flags: Wanted,
  { formats, uses, failure, measure, work }: FileWork,
): Promise<number> {
  const { format, paths } = resultFiles(files, formats, flags);
  const inputs = files.filter((file) => file === "-").length;
  if (inputs > 1) throw new ExitError("usage", `Standard input can be named once; got ${inputs} times.`);
  const [only, another] = files;
  // Before anything is loaded.
  if (only !== undefined && another === undefined) expectThere(only);
  return withApi(config, uses, async (api) => {
    const shown = commandProgress(config, measure, SLOW_RATE_MS);
    const failed: ExitReason[] = [];
    for (const [at, file] of files.entries()) {
      const name = file === "-" ? "standard input" : file;
      const path = paths[at];
      try {
        const label = files.length === 1 ? name : `[${at + 1}/${files.length}] ${name}`;
        const text = await resultOf(file, label, shown, api, (given) => work(api.ask, { ...given, format }));
        if (path !== undefined) {
          await writeResult(path, text);
          shown.note(`${name}: ${path}`);
        } else if (!(await writeOut(files.length === 1 ? text : ofSeveral(name, text, format)))) return;
      } catch (error) {
        if (!(error instanceof ExitError) || api.signal.aborted) throw error;
        if (files.length === 1) throw new ExitError(error.reason, failureMessage(error, name));
        writeError(failureMessage(error, name), config.logFormat);
        failed.push(error.reason);
      }
    }
    if (failed.length === 0) return;
    const reason = failed.every((one) => one === "usage") ? "usage" : "failure";
    throw new ExitError(reason, `${failed.length} of ${files.length} ${failure}.`);
  });
}

async function resultOf(
  file: string,
  label: string,
  shown: ProgressLine,
  { requests, signal }: Api,
  work: (given: { readonly path: string; readonly id: string }) => Promise<string>,
): Promise<string> {
  const id = newRequestId();
  const state = () => {
    const { done, of: total } = requests.progressOf(id) ?? { done: 0 };
    return { name: label, done, ...(total !== undefined && { total }) };
  };
  shown.begin();
  const folder = file === "-" ? await folderOfInput(signal) : undefined;
  try {
    expectThere(file);
    const path = folder === undefined ? resolve(file) : join(folder.path, INPUT);
    const text = await shown.during(state, () => work({ path, id }));
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
  if (file === "") throw new ExitError("usage", "The name of a file is empty.");
  const unreadable = (error: unknown) => `${file}: it cannot be read: ${fileReason(error)}.`;
  // A path below a file, or of a name that is too long, throws all the same.
  const found = orExit(() => statSync(file, { throwIfNoEntry: false }), unreadable);
  if (!found) throw new ExitError("failure", `${file}: there is no such file.`);
  if (found.isDirectory()) throw new ExitError("failure", `${file}: it is a folder; name the files in it.`);
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
