// What a model file is good for.

import { readGguf } from "./gguf.ts";
import { readEmbeddingFile, readModelFile } from "./model-file.ts";
import { isWhisperFile, readWhisperFile } from "./whisper-file.ts";

/** Looks whether the file is that of a model, be it one that nothing serves. Throws ModelFileError, or what the system throws. */
export function checkModelFile(path: string): void {
  if (!isWhisperFile(path)) readGguf(path);
}

/** The option that serves the file. Throws ModelFileError about one that nothing serves. */
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
      // Most are to answer: why one cannot is what helps.
      refusal ??= error;
    }
  }
  throw refusal;
}
