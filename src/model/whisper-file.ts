// What the server must know about a speech recognition model before it starts an engine for it.

import { statSync } from "node:fs";
import { basename } from "node:path";
import { ModelFileError } from "./gguf.ts";
import { readingModel, readStart } from "./read-model.ts";

export interface WhisperFile {
  readonly path: string;
  /** The name that clients see: `ggml-base.en.bin` is whisper-base.en. */
  readonly id: string;
  readonly bytes: number;
  /** Last change of the file, Unix seconds. */
  readonly modified: number;
}

/** What files in whisper.cpp's format begin with: ggml's magic number, little-endian. */
const MAGIC = "lmgg";

/** Whether the file begins as one of whisper.cpp's. Throws what the system throws. */
export const isWhisperFile = (path: string): boolean => readStart(path, MAGIC.length).toString("latin1") === MAGIC;

/** Looks whether the file is one of whisper.cpp's. Throws ModelFileError. */
export function readWhisperFile(path: string): WhisperFile {
  return readingModel(path, () => {
    const name = basename(path);
    if (!isWhisperFile(path)) {
      throw new ModelFileError(`${name} is no model in whisper.cpp's format (ggml-….bin).`);
    }
    const { size, mtimeMs } = statSync(path);
    const stem = name.replace(/\.bin$/, "").replace(/^ggml-/, "");
    return {
      path,
      id: stem.startsWith("whisper-") ? stem : `whisper-${stem}`,
      bytes: size,
      modified: Math.floor(mtimeMs / 1000),
    };
  });
}
