import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ModelFileError } from "../../src/model/gguf.ts";
import { readEmbeddingFile, readModelFile } from "../../src/model/model-file.ts";
import { ENCODER_CONTEXT, ENCODER_HIDDEN, makeEncoder } from "../models/make-encoder.ts";
import { sharedFolder } from "../support/folders.ts";

const folder = sharedFolder();

function refusal(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof ModelFileError) return error.message;
    throw error;
  }
  return "accepted";
}

describe("a file of an embedding model", () => {
  test("is described by its header", () => {
    const path = makeEncoder("mean", folder);
    expect(readEmbeddingFile(path, false)).toMatchObject({
      architecture: "bert",
      trainedContext: ENCODER_CONTEXT,
      embedding: ENCODER_HIDDEN,
      ranks: false,
    });
    expect(refusal(() => readModelFile(path))).toContain("is an embedding model");
  });

  test("may be a language model", () => {
    const mini = join(import.meta.dir, "../../vendor/svc-mini/svc-mini-q8_0.gguf");
    expect(readEmbeddingFile(mini, false).architecture).toBe("qwen3");
  });

  test("must be a reranker for scores, and must not be one for embeddings", () => {
    expect(readEmbeddingFile(makeEncoder("rank", folder), true).ranks).toBe(true);
    expect(refusal(() => readEmbeddingFile(makeEncoder("rank", folder), false))).toContain("is a reranker");
    expect(refusal(() => readEmbeddingFile(makeEncoder("cls", folder), true))).toContain("is not a reranker");
  });
});
