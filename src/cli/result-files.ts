// Decides where the results of a command on files go: one file, a folder, or standard output.

import { basename, extname, join } from "node:path";
import { found } from "../config/found.ts";
import { ExitError } from "./exit-codes.ts";
import { extensionsOf, type Formats } from "./file-formats.ts";
import { expectWritable, otherFormat, unknownFormat, type Wanted } from "./write-result.ts";

interface ResultFiles {
  readonly format: string;
  /** One path per file; empty when the results go to standard output. */
  readonly paths: readonly string[];
}

/**
 * Determines the paths. `output` is a folder, or the file of a single result if it has a format's ending and is no
 * folder. Throws ExitError for an unknown format, a file name of another format or one that may be misspelt, results
 * that would share a file, or a place that cannot be written.
 */
export function resultFiles(files: readonly string[], formats: Formats, { format, output }: Wanted): ResultFiles {
  const names = Object.keys(formats);
  if (format !== undefined && !Object.hasOwn(formats, format)) throw unknownFormat(format, names);
  const wanted = format ?? names[0] ?? "";
  if (output === undefined) return { format: wanted, paths: [] };
  const named = names.find((one) => extname(output).toLowerCase() === `.${formats[one]}`);
  if (named !== undefined && !isFolder(output)) {
    if (files.length > 1) {
      throw new ExitError("usage", `-o must name a folder for the results of ${files.length} files.`);
    }
    if (format !== undefined && formats[format] !== formats[named]) throw otherFormat(named, format);
    return { format: format ?? named, paths: writable([output]) };
  }
  if (files.length === 1 && extname(output) !== "" && !isFolder(output) && !/[/\\]$/.test(output)) {
    const known = extensionsOf(formats);
    throw new ExitError("usage", `-o must name a file that ends in ${known}, or a folder with / at its end.`);
  }
  const stem = (file: string) => (file === "-" ? "stdin" : basename(file, extname(file)));
  const paths = files.map((file) => join(output, `${stem(file)}.${formats[wanted]}`));
  const twice = paths.find((path, at) => paths.indexOf(path) !== at);
  if (twice !== undefined) throw new ExitError("usage", `The results of two files would both be ${twice}.`);
  return { format: wanted, paths: writable(paths) };
}

const isFolder = (path: string): boolean => found(path)?.isDirectory() === true;

function writable(paths: readonly string[]): readonly string[] {
  for (const path of paths) expectWritable(path);
  return paths;
}
