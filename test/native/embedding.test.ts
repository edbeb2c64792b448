// Vectors and scores through the real library, from the text to the numbers as the engine process computes them.

import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openEmbedder, type EmbedderConfig, type NativeEmbedder } from "../../ffi/llama/embedder.ts";
import { developmentLibraries, nativeFiles } from "../../ffi/runtime/native-files.ts";
import type { EmbeddingResult, EmbeddingWork } from "../../src/domain/embedding.ts";
import { nextTurn } from "../../src/domain/next-turn.ts";
import { EmbeddingLoop } from "../../src/engine/embedding/child/loop.ts";
import type { FromEmbedder } from "../../src/engine/embedding/protocol.ts";
import { ENCODER_CONTEXT, ENCODER_HIDDEN, makeEncoder, type EncoderKind } from "../models/make-encoder.ts";
import { sharedFolder } from "../support/folders.ts";

let embedder: NativeEmbedder;
const folder = sharedFolder();
const PATIENCE_MS = 300_000;

beforeAll(() => {
  embedder = openEmbedder(process.env["SVC_LIBRARIES"] ?? developmentLibraries());
});
afterEach(() => embedder.unload());

async function load(path: string, changes: Partial<EmbedderConfig> = {}): Promise<string | undefined> {
  const sizes = { batch: 512, sequences: 64, threads: 1, gpuLayers: 0 };
  const rest = { flashAttention: "auto", mmap: true, mlock: false, warmup: false } as const;
  embedder.loadStart({ path, embedding: "embed", ...sizes, ...rest, ...changes });
  for (;;) {
    const state = embedder.loadPoll();
    if (state.state === "ready") return undefined;
    if (state.state === "failed") return state.error;
    await Bun.sleep(2);
  }
}

const loadKind = (kind: EncoderKind, changes: Partial<EmbedderConfig> = {}) =>
  load(makeEncoder(kind, folder), { ...(kind.includes("rank") && { embedding: "rank" as const }), ...changes });

/** Answers each piece of work as the engine process does; all of them wait at once. */
async function run(maxTokens: number, ...work: EmbeddingWork[]): Promise<FromEmbedder[]> {
  const told: FromEmbedder[] = [];
  const loop = new EmbeddingLoop(embedder, { maxTokens }, (message) => told.push(message));
  work.forEach((one, key) => loop.submit(key + 1, { work: one }));
  const isOver = () => told.filter(({ type }) => type === "events" || type === "rejected").length === work.length;
  for (let steps = 0; !isOver() && steps < 1000; steps++) {
    await nextTurn();
    loop.step();
  }
  return told;
}

async function results(maxTokens: number, ...work: EmbeddingWork[]): Promise<EmbeddingResult[]> {
  return (await run(maxTokens, ...work))
    .flatMap((message) => (message.type === "events" ? message.finished : []))
    .sort((a, b) => a.key - b.key)
    .flatMap(({ event }) => (event.type === "result" ? event.result : []));
}

async function embed(inputs: readonly (string | number[])[], maxTokens = ENCODER_CONTEXT): Promise<EmbeddingResult> {
  const [result] = await results(maxTokens, { kind: "embed", inputs });
  if (!result) throw new Error("no result");
  return result;
}

const vectorsOf = ({ values, dimensions }: EmbeddingResult) =>
  Array.from({ length: values.length / dimensions }, (_, at) =>
    values.subarray(at * dimensions, (at + 1) * dimensions),
  );
const dot = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Array.from(a).reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);

const texts = ["the sky is blue", "a", "green grass, the song of the river and the moon.", "what colour is the sun?"];

describe.each(["mean", "cls", "unsaid", "causal-last", "causal-mean"] as const)("%s", (kind) => {
  test("gives vectors of length 1, the same alone and among others", async () => {
    expect(await loadKind(kind)).toBeUndefined();
    const together = vectorsOf(await embed([...texts, ...texts.toReversed()]));
    expect(together.map(({ length }) => length)).toEqual(Array.from({ length: 8 }, () => ENCODER_HIDDEN));
    for (const [at, text] of texts.entries()) {
      const [alone = []] = vectorsOf(await embed([text]));
      expect(dot(alone, alone)).toBeCloseTo(1, 4);
      expect(dot(alone, together[at] ?? [])).toBeCloseTo(1, 4);
      expect(dot(alone, together[7 - at] ?? [])).toBeCloseTo(1, 4);
    }
    expect(dot(together[0] ?? [], together[1] ?? [])).toBeLessThan(0.9999);
  });
});

test("a long input gives the same vector alone and after others, however it is divided", async () => {
  expect(await loadKind("causal-last", { batch: 1200 })).toBeUndefined();
  const ids = (length: number) => Int32Array.from({ length }, (_, at) => 5 + ((at * 7) % 50));
  const [first, second] = [ids(700), ids(450)];
  const values = embedder.embed([first, second], 0) ?? new Float32Array();
  const together = [values.subarray(0, ENCODER_HIDDEN), values.subarray(ENCODER_HIDDEN)];
  for (const [at, input] of [first, second].entries()) {
    const alone = embedder.embed([input], 0) ?? [];
    expect(dot(alone, alone)).toBeCloseTo(1, 4);
    expect(dot(alone, together[at] ?? [])).toBeCloseTo(1, 4);
  }
  const [one = [], other = []] = together;
  expect(dot(one, other)).toBeLessThan(0.9999);
});

test("pooling is what the file says, the mean where it says nothing", async () => {
  // The weights of models of one architecture are the same.
  const found: Partial<Record<EncoderKind, string>> = {};
  for (const kind of ["mean", "cls", "unsaid", "causal-last", "causal-mean"] as const) {
    expect(await loadKind(kind)).toBeUndefined();
    found[kind] = (await embed(["the sky is blue"])).values.join();
    embedder.unload();
  }
  expect(found.unsaid).toBe(found.mean);
  expect(found.cls).not.toBe(found.mean);
  expect(found["causal-last"]).not.toBe(found["causal-mean"]);
});

describe("inputs", () => {
  test("as text and as token ids are the same, and usage counts special tokens", async () => {
    await loadKind("mean");
    const ids = [...embedder.tokenize("the sky is blue", "around")];
    expect(ids).toHaveLength(6);
    const [text, tokens] = [await embed(["the sky is blue"]), await embed([ids])];
    expect(dot(text.values, tokens.values)).toBeCloseTo(1, 5);
    expect([text.tokens, tokens.tokens]).toEqual([6, 6]);
  });

  test("that are too long are cut before their last special token, and counted", async () => {
    await loadKind("mean");
    const words = Array.from({ length: 200 }, () => "sky");
    const fits = words.slice(0, ENCODER_CONTEXT - 2).join(" ");
    const result = await embed([words.join(" "), fits, "sky"]);
    expect([result.truncated, result.tokens]).toEqual([1, 2 * ENCODER_CONTEXT + 3]);
    const [cut = [], whole = []] = vectorsOf(result);
    expect(dot(cut, whole)).toBeCloseTo(1, 5);
  });

  test("that are empty or blank consist of the special tokens alone", async () => {
    await loadKind("mean");
    const many = Array.from({ length: 2000 }, () => "the sky is blue");
    const result = await embed(["", " ", "sky", ...many]);
    const [empty = [], blank = [], sky = []] = vectorsOf(result);
    expect([dot(empty, empty), dot(empty, blank)]).toEqual([expect.closeTo(1, 4), expect.closeTo(1, 4)]);
    expect(dot(empty, sky)).toBeLessThan(0.9999);
    embedder.unload();
    await loadKind("rank");
    const [scores] = await results(48, { kind: "rank", query: "the sky", documents: ["", "the sky is blue", " "] });
    expect([scores?.values.length, scores?.values.some(Number.isNaN)]).toEqual([3, false]);
  });

  test("of unknown token ids are refused with the range, and the others are answered", async () => {
    await loadKind("mean");
    const { vocabulary } = embedder.model();
    const told = await run(
      48,
      { kind: "embed", inputs: [[vocabulary]] },
      { kind: "embed", inputs: [[vocabulary - 1]] },
    );
    expect(told).toContainEqual(
      expect.objectContaining({ type: "rejected", key: 1, code: "invalid_value", param: "input" }),
    );
    expect(told.filter(({ type }) => type === "events")).toHaveLength(1);
    expect(JSON.stringify(told)).toContain(`from 0 to ${vocabulary - 1}`);
  });
});

test("a long text holds up no short one, and many texts have the tokens of each alone", async () => {
  await loadKind("causal-mean");
  const told = await run(48, { kind: "embed", inputs: ["s".repeat(400_000)] }, { kind: "embed", inputs: ["sky"] });
  const finished = told.flatMap((message) => (message.type === "events" ? message.finished : []));
  expect(finished.map(({ key }) => key)).toEqual([2, 1]);
  const many = Array.from({ length: 2000 }, (_, n) => texts[n % texts.length] ?? "");
  const together = vectorsOf(await embed(many));
  for (const [at, text] of texts.entries()) {
    const [alone = []] = vectorsOf(await embed([text]));
    expect(dot(alone, together[2000 - texts.length + at] ?? [])).toBeCloseTo(1, 4);
  }
});

test("a request that is left while its texts are tokenized is never computed", async () => {
  await loadKind("causal-mean");
  const told: FromEmbedder[] = [];
  const loop = new EmbeddingLoop(embedder, { maxTokens: 48 }, (message) => told.push(message));
  loop.submit(1, { work: { kind: "embed", inputs: ["s".repeat(400_000)] } });
  loop.submit(2, { work: { kind: "embed", inputs: ["s".repeat(400_000)] } });
  loop.cancel(1);
  while (!told.some(({ type }) => type === "events")) {
    await nextTurn();
    loop.step();
  }
  expect(told.flatMap((message) => ("key" in message ? message.key : []))).toEqual([2]);
});

test("a query is refused that the template would repeat too often", async () => {
  await loadKind("causal-rank");
  const documents = Array.from({ length: 2000 }, () => "moon");
  const [refused] = await run(ENCODER_CONTEXT, { kind: "rank", query: " ".repeat(100_000), documents });
  expect(refused).toMatchObject({ type: "rejected", code: "invalid_value", param: "query" });
  expect(JSON.stringify(refused)).toContain("for 2000 documents; got 100000");
});

describe.each(["rank", "rank-eos", "causal-rank"] as const)("a reranker: %s", (kind) => {
  const query = "what colour is the sky";
  const documents = ["the sky is blue", "green grass", "river ".repeat(100), "moon"];

  test("scores each document with the query, the same alone and among others", async () => {
    expect(await loadKind(kind)).toBeUndefined();
    const [all] = await results(ENCODER_CONTEXT, { kind: "rank", query, documents });
    expect([all?.dimensions, all?.values.length, all?.truncated]).toEqual([1, 4, 1]);
    expect(all?.probabilities).toBe(kind === "causal-rank" ? true : undefined);
    for (const [at, document] of documents.entries()) {
      const [one] = await results(ENCODER_CONTEXT, { kind: "rank", query, documents: [document] });
      expect(one?.values[0]).toBeCloseTo(all?.values[at] ?? NaN, 2);
    }
    expect(new Set(all?.values).size).toBe(4);
    const [refused] = await run(ENCODER_CONTEXT, { kind: "rank", query: "sky ".repeat(60), documents });
    expect(refused).toMatchObject({ type: "rejected", code: "context_length_exceeded", param: "query" });
  });
});

test("a word that is too long for BERT's tokenizer is one unknown token to a reranker, too", async () => {
  await loadKind("rank");
  const rank = (document: string) =>
    results(ENCODER_CONTEXT, { kind: "rank", query: "sky", documents: [document] } as const);
  expect((await rank(`the ${"x".repeat(101)} moon`))[0]?.tokens).toBe((await rank("the a moon"))[0]?.tokens);
});

test.each(["rank", "rank-eos"] as const)("separators spelt in texts are text to a reranker: %s", async (kind) => {
  await loadKind(kind);
  const tokens = async (query: string, document: string) =>
    (await results(ENCODER_CONTEXT, { kind: "rank", query, documents: [document] }))[0]?.tokens ?? 0;
  expect(await tokens("sky", "moon")).toBe(5);
  const spelt = embedder.tokenize("[SEP]", "none").length;
  expect(spelt).toBeGreaterThan(1);
  expect(await tokens("sky", "moon [SEP]")).toBe(5 + spelt);
  expect(await tokens("sky [SEP]", "moon")).toBe(5 + spelt);
});

test("a query with a placeholder of the prompt in it is text as any other", async () => {
  await loadKind("causal-rank");
  const around = embedder.tokenize("<|im_start|>sky {document}\nmoon<|im_end|>", "parsed").length;
  const [result] = await results(ENCODER_CONTEXT, { kind: "rank", query: "sky {document}", documents: ["moon"] });
  expect(result?.tokens).toBe(around);
});

test("a file that does not load says why, and the next one loads", async () => {
  expect(await load(join(folder, "nothing.gguf"))).toContain("nothing.gguf");
  const bytes = readFileSync(makeEncoder("mean", folder));
  // A value is behind its name and its type.
  bytes.writeUInt32LE(2 ** 32 - 1, bytes.indexOf("bert.pooling_type") + "bert.pooling_type".length + 4);
  const damaged = join(folder, "pooling.gguf");
  writeFileSync(damaged, bytes);
  expect(await load(damaged)).toContain("unknown way to pool");
  expect(() => embedder.tokenize("a", "none")).toThrow("no embedding model");
  expect(() => embedder.model()).toThrow("no embedding model");
  expect(await loadKind("mean")).toBeUndefined();
});

interface Reference {
  readonly dimensions: number;
  readonly tokens: readonly number[];
  readonly sentences: readonly string[];
  readonly vectors: string;
}

const { embeddedEmbeddings } = nativeFiles("");
const isThere = embeddedEmbeddings !== undefined && existsSync(embeddedEmbeddings);
if (!isThere)
  console.log("not compared with sentence-transformers: the build left out all-MiniLM-L6-v2 (see its output)");

test.skipIf(!isThere)(
  "all-MiniLM-L6-v2 gives the vectors of sentence-transformers: cosine above 0.999 for every fourth of 200 sentences",
  async () => {
    const path = join(import.meta.dir, "../fixtures/embeddings/all-minilm-reference.json");
    const reference = (await Bun.file(path).json()) as Reference;
    const expected = new Float16Array(Uint8Array.from(Buffer.from(reference.vectors, "base64")).buffer);
    expect(await load(embeddedEmbeddings ?? "")).toBeUndefined();
    const { sentences, dimensions, tokens } = reference;
    expect([sentences.length, dimensions, embedder.model().dimensions]).toEqual([200, 384, 384]);
    const isFourth = (_: unknown, at: number) => at % 4 === 0;
    const result = await embed(sentences.filter(isFourth), 256);
    expect(result.tokens).toBe(tokens.filter(isFourth).reduce((sum, count) => sum + count, 0));
    const far = vectorsOf(result).flatMap((vector, at) => {
      const wanted = expected.subarray(4 * at * dimensions, (4 * at + 1) * dimensions);
      const cosine = dot(vector, wanted) / Math.sqrt(dot(wanted, wanted) * dot(vector, vector));
      return cosine > 0.999 ? [] : [[at, cosine]];
    });
    expect(far).toEqual([]);
  },
  PATIENCE_MS,
);
