// Chunks of prompts whose computation pauses while other sequences are decoded.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { LlamaError, type SamplerId } from "../../ffi/llama/api.ts";
import type { NativeLlama } from "../../ffi/llama/binding.ts";
import { chunkBegin, decode, generate, library, load, prefill, question, sampler, tokenize, clear } from "./harness.ts";

// Other processes may use the cores.
setDefaultTimeout(30_000);

const STORY = "Tell me a short story.";
interface Answer {
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
}

/** A time budget of zero: the computation pauses wherever it can. */
const SHORTEST = 0;
/** Enough cells for the prompt, but few enough to fill quickly. */
const CONTEXT = { unified: 1024, streams: 2048, paged: 1024 } as const;

describe.each(["unified", "streams", "paged"] as const)("%s KV cache", (layout) => {
  let llama: NativeLlama;
  let prompt: Int32Array;
  let expected: Answer;

  beforeAll(async () => {
    llama = library();
    await load(llama, { layout, parallel: 4, context: CONTEXT[layout] });
    prompt = tokenize(llama, "Once upon a time there was a small dog, and its home was near the sea. ".repeat(20));
    prompt = prompt.subarray(0, 300);
    // In the same chunks, because batches of other shapes change sums slightly.
    for (const rows of chunksOf(1)) decode(llama, rows);
    expected = answers(1, last(1));
  });
  afterAll(() => llama.unload());

  /** Returns the greedy output of a sequence when `first` computes the last rows of its prompt. */
  const answers = (sequence: number, first: (slot: SamplerId) => number[] | string): Answer => {
    const slot = sampler(llama, { topLogprobs: 0 });
    const tokens: number[] = [];
    const logprobs: number[] = [];
    for (let sampled = first(slot); tokens.length < 8;) {
      tokens.push(Number(sampled[0]));
      logprobs.push(llama.logprobs(slot)[0]?.logprob ?? Number.NaN);
      const row = { token: Number(sampled[0]), position: prompt.length + tokens.length - 1, sequence, sampler: slot };
      sampled = decode(llama, [row]);
    }
    llama.freeSampler(slot);
    return { tokens, logprobs };
  };

  /** Computes the current chunk to its end. */
  const finish = () => {
    for (;;) {
      const result = llama.chunkResume(1000);
      if (result !== "paused") return result;
    }
  };

  /** Returns the chunks of the prompt without its last token. */
  const chunksOf = (sequence: number) => {
    const rows = prefill(prompt.slice(0, -1), sequence);
    const { chunk } = llama.model();
    return Array.from({ length: Math.ceil(rows.length / chunk) }, (_, at) => rows.slice(at * chunk, (at + 1) * chunk));
  };

  /** Computes these chunks, calling `between` at each pause. Returns the number of pauses. */
  const computeInSlices = (sequence: number, between: () => void): number => {
    let pauses = 0;
    for (const rows of chunksOf(sequence)) {
      chunkBegin(llama, rows);
      for (; llama.chunkResume(SHORTEST) === "paused"; pauses++) between();
    }
    return pauses;
  };
  const last = (sequence: number) => (slot: SamplerId) =>
    decode(llama, prefill(prompt.slice(-1), sequence, slot, prompt.length - 1));

  test("a prompt gives the same answer, and so does the stream that is decoded in its pauses", () => {
    const story = question(llama, STORY);
    clear(llama);
    const alone = sampler(llama);
    const [spoken = []] = generate(llama, [{ sequence: 0, tokens: story, sampler: alone }], 40);
    clear(llama);
    const slot = sampler(llama);
    const said = decode(llama, prefill(story, 0, slot)) as number[];
    const pauses = computeInSlices(1, () => {
      if (said.length === spoken.length) return;
      const row = { token: said.at(-1) ?? 0, position: story.length + said.length - 1, sequence: 0, sampler: slot };
      said.push(...(decode(llama, [row]) as number[]));
    });
    expect(pauses).toBeGreaterThan(10);
    expect(said).toEqual(spoken.slice(0, said.length));
    // Cells between those of the stream are summed in another order.
    expect(answers(1, last(1)).tokens).toEqual(expected.tokens);
    for (const one of [alone, slot]) llama.freeSampler(one);
  });

  test("other sequences can be added and removed in its pauses", () => {
    clear(llama);
    const other = question(llama, STORY);
    let pauses = 0;
    computeInSlices(1, () => {
      if (pauses++ % 3 > 0) return;
      decode(llama, prefill(other, 0));
      llama.kvCopy(0, 2, other.length - 2, other.length - 2);
      const saved = llama.kvSave(2, 0, -1);
      llama.kvMove(2, 3);
      expect(saved && llama.kvRestore(3, [saved])).toBe(true);
      llama.kvRemove(0, 0, -1);
      llama.kvRemove(3, 0, -1);
    });
    expect(pauses).toBeGreaterThan(10);
    expect(answers(1, last(1))).toEqual(expected);
  });

  test("one chunk can hold rows of several prompts", () => {
    clear(llama);
    const head = prompt.slice(0, 60);
    chunkBegin(llama, [...prefill(head, 0), ...prefill(head.subarray(0, 40), 1)]);
    expect(finish()).toBe("done");
    const rest = (sequence: number, from: number) => (slot: SamplerId) =>
      decode(llama, prefill(prompt.subarray(from), sequence, slot, from));
    expect(answers(0, rest(0, 60)).tokens).toEqual(expected.tokens);
    expect(answers(1, rest(1, 40)).tokens).toEqual(expected.tokens);
  });

  test("an abandoned chunk leaves the cache as it was", () => {
    clear(llama);
    llama.chunkAbandon();
    const begin = prefill(prompt.subarray(0, 50), 1);
    decode(llama, begin);
    const more = prefill(prompt.subarray(50, 150), 1, undefined, 50);
    chunkBegin(llama, more);
    // Before any of the chunk is computed, and at several points of the graph.
    for (const slices of [0, 1, 2, 4]) {
      for (let slice = 0; slice < slices; slice++) expect(llama.chunkResume(SHORTEST)).toBe("paused");
      llama.chunkAbandon();
      chunkBegin(llama, more);
    }
    llama.chunkAbandon();
    const rest = answers(1, (slot) => decode(llama, prefill(prompt.subarray(50), 1, slot, 50)));
    expect(rest.tokens).toEqual(expected.tokens);
  });

  test("a full cache is reported, and the chunk can be tried again", () => {
    clear(llama);
    const room = llama.model().contextPerSequence;
    for (let at = 0; at < room - 10; at += 500) {
      decode(llama, prefill(new Int32Array(Math.min(500, room - 10 - at)).fill(50), 0, undefined, at));
    }
    chunkBegin(llama, prefill(new Int32Array(20).fill(50), 0, undefined, room - 10));
    expect(finish()).toBe("no-capacity");
    chunkBegin(llama, prefill(new Int32Array(10).fill(50), 0, undefined, room - 10));
    expect(finish()).toBe("done");
  });

  test("invalid chunks are refused, and a failed chunk is discarded", () => {
    clear(llama);
    const { chunk, vocabulary } = llama.model();
    const row = { token: 50, position: 0, sequence: 0 };
    const refused = (rows: Parameters<typeof chunkBegin>[1]) =>
      expect(() => chunkBegin(llama, rows)).toThrow(LlamaError);
    expect(() => llama.chunkResume(1)).toThrow("no chunk is begun");
    refused([{ ...row, token: vocabulary }]);
    refused([{ ...row, sequence: 4 }]);
    refused([{ ...row, position: -1 }]);
    refused(prefill(new Int32Array(chunk + 1), 0));
    chunkBegin(llama, [row]);
    refused([row]);
    expect(finish()).toBe("done");
    // A gap in the positions is detected by llama.cpp itself.
    chunkBegin(llama, [{ ...row, position: 7 }]);
    expect(finish).toThrow(LlamaError);
    chunkBegin(llama, [{ ...row, position: 1 }]);
    expect(finish()).toBe("done");
  });

  test("a model can be unloaded during a chunk, and the next model computes new chunks", async () => {
    clear(llama);
    chunkBegin(llama, prefill(prompt.subarray(0, 100), 1));
    expect(llama.chunkResume(SHORTEST)).toBe("paused");
    llama.unload();
    expect(await load(llama, { layout, parallel: 4, context: CONTEXT[layout] })).toBeUndefined();
    computeInSlices(1, () => {});
    expect(answers(1, last(1))).toEqual(expected);
  });
});
