// Determines what a model file can be used for.

import { readGguf } from "./gguf.ts";
import { readEmbeddingFile, readModelFile } from "./model-file.ts";
import { isWhisperFile, readWhisperFile } from "./whisper-file.ts";

/** Checks that a file is a model, even if svc cannot serve it. Throws ModelFileError, or the system's error. */
export function checkModelFile(path: string): void {
  if (!isWhisperFile(path)) readGguf(path);
}

/** Returns the option that serves the file. Throws ModelFileError if no option does. */
export function servingOption(path: string): string {
  const readings: Readonly<Record<string, () => unknown>> = {
    "--model": () => readModelFile(path),
    "--rerank-model": () => readEmbeddingFile(path, true),
    "--embedding-model": () => readEmbeddingFile(path, false),
    "--transcription-model": () => readWhisperFile(path),
  };
  let refusal: unknown;
  for (const [option, read] of Object.entries(readings)) {
    try {
      read();
      return option;
    } catch (error) {
      // Most files are language models, so the reason why --model refuses the file helps most.
      refusal ??= error;
    }
  }
  throw refusal;
}
