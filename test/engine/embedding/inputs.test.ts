// What the inputs of a request become before they are computed.

import { expect, test } from "bun:test";
import type { Embedder, LoadedEmbedder } from "../../../ffi/llama/embedder.ts";
import { InputReader } from "../../../src/engine/embedding/child/inputs.ts";
import { TextJobs } from "../../../src/engine/embedding/child/text-jobs.ts";
import { rejection } from "../../support/thrown.ts";

/** Returns a reader for a model whose tokens are letters, with these ids around a text. */
function readerWith(around: readonly number[]): InputReader {
  const letters = (text: string) => [...text].map((letter) => letter.codePointAt(0) ?? 0);
  const embedder = {
    model: () => ({ vocabulary: 1000, stripsAccents: false }) as LoadedEmbedder,
    tokenize: (text: string, special: string) =>
      Int32Array.from(special === "around" ? [...around, ...letters(text), ...around] : letters(text)),
  } as Embedder;
  return new InputReader(embedder, new TextJobs(embedder), 16);
}

test("a text that is too long is truncated, or refused with its number and the limit", async () => {
  const work = { kind: "embed", inputs: ["a", "b".repeat(15)] } as const;
  expect(await readerWith([7]).read(work, { key: 1 })).toMatchObject({ truncated: 1 });
  const refused = await readerWith([7])
    .read({ ...work, refuseLong: "input" }, { key: 1 })
    .catch(String);
  expect(refused).toContain("'input' must have texts of at most 16 tokens for this model; number 1,");
});

test("an empty text is its special tokens, and is refused by a model that has none around a text", async () => {
  const work = { kind: "embed", inputs: ["a", ""] } as const;
  const { inputs } = await readerWith([7]).read(work, { key: 1 });
  expect(inputs.map((tokens) => [...tokens])).toEqual([
    [7, 97, 7],
    [7, 7],
  ]);
  expect(await rejection(readerWith([]).read(work, { key: 1 }))).toEqual(["invalid_value", "input"]);
});
