import { expect, test } from "bun:test";
import type { Embedder, LoadedEmbedder } from "../../../ffi/llama/embedder.ts";
import { InputReader } from "../../../src/engine/embedding/child/inputs.ts";
import { TextJobs } from "../../../src/engine/embedding/child/text-jobs.ts";

const UNKNOWN = 1;

/** A vocabulary of words; each has its length as id. */
const embedder = {
  model: () =>
    ({
      stripsAccents: true,
      addBos: true,
      addEos: true,
      addSep: false,
      bos: 2,
      eos: 3,
      sep: 3,
      vocabulary: 1000,
    }) as LoadedEmbedder,
  tokenize(text: string, special: "none" | "around" | "parsed") {
    const ids = text.split(/\s+/).flatMap((word) => {
      if (special !== "none" && word === "[UNK]") return [UNKNOWN];
      return word === "" ? [] : [10 + word.length];
    });
    return Int32Array.from(special === "around" ? [2, ...ids, 3] : ids);
  },
} as Embedder;

test("a word of more than 100 letters is the unknown token, in embeddings and in rerankings", async () => {
  const reader = new InputReader(embedder, new TextJobs(embedder), 100);
  const of = { key: 1 };
  const long = `ab ${"x".repeat(101)} abc`;
  const embedded = await reader.read({ kind: "embed", inputs: [long] }, of);
  expect([...(embedded.inputs[0] ?? [])]).toEqual([2, 12, UNKNOWN, 13, 3]);
  const ranked = await reader.read({ kind: "rank", query: "a", documents: [long] }, of);
  expect([...(ranked.inputs[0] ?? [])]).toEqual([2, 11, 3, 12, UNKNOWN, 13, 3]);
});
