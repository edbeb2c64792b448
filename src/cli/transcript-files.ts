// Where the texts of recordings go: one file, a folder, or standard output.

import { statSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { ExitError } from "./exit-codes.ts";

const ENDINGS: Readonly<Record<string, string>> = {
  text: "txt",
  srt: "srt",
  vtt: "vtt",
  json: "json",
  verbose_json: "json",
};
const DEFAULT_FORMAT = "text";

export interface Transcripts {
  readonly format: string;
  /** By recording; none: they go to standard output. */
  readonly paths: readonly string[];
}

/**
 * `output`: the folder, or of one recording the file, if it ends in what a format does and is no folder. Throws ExitError
 * about what cannot come out well.
 */
export function transcriptFiles(
  files: readonly string[],
  { format, output }: { readonly format?: string; readonly output?: string },
): Transcripts {
  if (format !== undefined && !Object.hasOwn(ENDINGS, format)) {
    throw new ExitError("usage", `--format must be one of ${Object.keys(ENDINGS).join(", ")}.`);
  }
  if (output === undefined) return { format: format ?? DEFAULT_FORMAT, paths: [] };
  const named = Object.keys(ENDINGS).find((one) => extname(output).toLowerCase() === `.${ENDINGS[one]}`);
  if (named !== undefined && !isFolder(output)) {
    if (files.length === 1) return { format: format ?? named, paths: [output] };
    throw new ExitError("usage", `-o must name a folder for the texts of ${files.length} recordings.`);
  }
  const wanted = format ?? DEFAULT_FORMAT;
  const stem = (file: string) => (file === "-" ? "stdin" : basename(file, extname(file)));
  const paths = files.map((file) => join(output, `${stem(file)}.${ENDINGS[wanted]}`));
  const twice = paths.find((path, at) => paths.indexOf(path) !== at);
  if (twice !== undefined) throw new ExitError("usage", `The texts of two recordings would both be ${twice}.`);
  return { format: wanted, paths };
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
