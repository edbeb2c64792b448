// What a model file is good for.

import { readEmbeddingFile, readModelFile } from "./model-file.ts";

/** The option that serves the file. Throws ModelFileError about one that nothing serves. */
export function servingOption(path: string): string {
  const readings: Readonly<Record<string, () => unknown>> = {
    "--model": () => readModelFile(path),
    "--rerank-model": () => readEmbeddingFile(path, true),
    "--embedding-model": () => readEmbeddingFile(path, false),
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
