// Determines what a model file can be used for.

import { basename } from "node:path";
import { ModelFileError, readGguf } from "./gguf.ts";
import { readEmbeddingFile, readModelFile, type ModelFile } from "./model-file.ts";
import { isWhisperFile, readWhisperFile } from "./whisper-file.ts";

/** Checks that a file is a model, even if svc cannot serve it. Throws ModelFileError, or the system's error. */
export function checkModelFile(path: string): void {
  if (!isWhisperFile(path)) readGguf(path);
}

/** Returns the option that serves the file. Throws ModelFileError if no option does. */
export const servingOption = (path: string): string => readServed(path).option;

/** Returns the option that serves the file, and what it reads of the file. Throws ModelFileError if no option does. */
export function readServed(path: string) {
  const readings = [
    () => ({ option: "--model", file: readChatFile(path) }) as const,
    () => ({ option: "--rerank-model", file: readEmbeddingFile(path, true) }) as const,
    () => ({ option: "--embedding-model", file: readEmbeddingFile(path, false) }) as const,
    () => ({ option: "--transcription-model", file: readWhisperFile(path) }) as const,
  ];
  let refusal: unknown;
  for (const read of readings) {
    try {
      return read();
    } catch (error) {
      // Most files are language models, so the reason why --model refuses the file helps most.
      refusal ??= error;
    }
  }
  throw refusal;
}

function readChatFile(path: string): ModelFile {
  const file = readModelFile(path);
  if (file.isForVectors) throw new ModelFileError(`${basename(path)} turns text into vectors or scores.`);
  return file;
}
