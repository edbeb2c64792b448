// Reads files that may not be models.

import { closeSync, openSync, readSync } from "node:fs";
import { fileReason } from "../domain/system-error-code.ts";
import { ModelFileError } from "./gguf.ts";

/** A file for which an engine is created. */
export interface ServedFile {
  readonly path: string;
  /** The name that clients see, derived from the file name without its extension, depending on the format. */
  readonly id: string;
  readonly bytes: number;
  /** Modification time of the file, Unix seconds. */
  readonly modified: number;
}

/** Returns up to `length` bytes of a file from `at` on; fewer at its end. Throws the system's error. */
export function readPart(path: string, length: number, at = 0): Buffer {
  const bytes = Buffer.alloc(length);
  const file = openSync(path, "r");
  try {
    return bytes.subarray(0, readSync(file, bytes, 0, length, at));
  } finally {
    closeSync(file);
  }
}

/** Returns the result of `read`. Throws ModelFileError, also for the system's errors. */
export function readingModel<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ModelFileError) throw error;
    throw new ModelFileError(`${path} cannot be read: ${fileReason(error)}.`);
  }
}
