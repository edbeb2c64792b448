// Reading files that may be no models.

import { closeSync, openSync, readSync } from "node:fs";
import { fileReason } from "../domain/system-error-code.ts";
import { ModelFileError } from "./gguf.ts";

/** A file that an engine is made for. */
export interface ServedFile {
  readonly path: string;
  /** The name that clients see: that of the file without its ending, and as the format has it. */
  readonly id: string;
  readonly bytes: number;
  /** Last change of the file, Unix seconds. */
  readonly modified: number;
}

/** Up to `length` bytes of a file from `at` on; fewer at its end. Throws what the system throws. */
export function readStart(path: string, length: number, at = 0): Buffer {
  const bytes = Buffer.alloc(length);
  const file = openSync(path, "r");
  try {
    return bytes.subarray(0, readSync(file, bytes, 0, length, at));
  } finally {
    closeSync(file);
  }
}

/** What `read` returns. Throws ModelFileError, also for what the system throws. */
export function readingModel<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ModelFileError) throw error;
    throw new ModelFileError(`${path} cannot be read: ${fileReason(error)}.`);
  }
}
