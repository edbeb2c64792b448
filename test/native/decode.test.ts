import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { LlamaError, type SamplerConfig } from "../../ffi/llama/api.ts";
import type { NativeLlama } from "../../ffi/llama/binding.ts";
import { answer, decode, generate, library, load, prefill, question, sampler, clear } from "./harness.ts";

// Other processes may use the cores.
setDefaultTimeout(60_000);

const CAPITAL = "What is the capital of France?";
const SUM = "What is 12 + 30?";
const STORY = "Tell me a short story.";

describe.each(["unified", "streams", "paged"] as const)("%s KV cache", (layout) => {
  let llama: NativeLlama;

  beforeAll(async () => {
    llama = library();
    // Enough cells for an answer in each sequence, but few enough to fill quickly.
    await load(llama, { layout, parallel: 8, context: layout === "streams" ? 4096 : 1024 });
  });
  afterAll(() => llama.unload());

  /** Runs one request alone on an empty cache. */
  const alone = (content: string, changes: Partial<SamplerConfig>, count = 16) => {
    clear(llama);
    const slot = sampler(llama, changes);
    const [tokens = []] = generate(llama, [{ sequence: 0, tokens: question(llama, content), sampler: slot }], count);
    llama.freeSampler(slot);
    return tokens;
  };

  /** Runs requests together, in sequences 0, 1, 2 … */
  const together = (requests: readonly [string, Partial<SamplerConfig>][], count = 16) => {
    clear(llama);
    const streams = requests.map(([content, changes], sequence) => ({
      sequence,
      tokens: question(llama, content),
      sampler: sampler(llama, changes),
    }));
    const out = generate(llama, streams, count);
    for (const stream of streams) llama.freeSampler(stream.sampler);
    return out;
  };

  test("answers are correct", () => {
    expect(answer(llama, CAPITAL)).toBe("The capital of France is Paris.");
    expect(answer(llama, SUM)).toContain("42");
  });

  test("greedy requests in the same batch do not change an answer", () => {
    const expected = [CAPITAL, SUM, STORY].map((content) => alone(content, {}));
    expect(together([CAPITAL, SUM, STORY].map((content) => [content, {}]))).toEqual(expected);
  });

  test("a seed determines the tokens, whatever requests share the batch", () => {
    const first = alone(STORY, { ...lively, seed: 7 }, 8);
    expect(alone(STORY, { ...lively, seed: 7 }, 8)).toEqual(first);
    expect(alone(STORY, { ...lively, seed: 8 }, 8)).not.toEqual(first);
    const neighbours: [string, Partial<SamplerConfig>][] = [
      [CAPITAL, { ...lively, seed: 1 }],
      [SUM, {}],
      [STORY, { ...lively, seed: 7 }],
      [STORY, { ...lively, seed: 8 }],
      [SUM, { ...lively, seed: 9 }],
      [STORY, { ...lively, seed: 10, topLogprobs: 3 }],
    ];
    const beside = together(neighbours, 8);
    expect(beside[2]).toEqual(first);
    expect(beside[3]).not.toEqual(first);
  });

  test("multi-step decoding gives the same tokens as single steps, and stops where a turn ends", () => {
    const asked = [CAPITAL, STORY].map((content, sequence) => ({ sequence, tokens: question(llama, content) }));
    const expected = [alone(CAPITAL, {}, 24), alone(STORY, {}, 24)];
    clear(llama);
    const samplers = asked.map(() => sampler(llama));
    const first = decode(
      llama,
      asked.flatMap(({ sequence, tokens }) => prefill(tokens, sequence, samplers[sequence])),
    );
    const rows = asked.map(({ sequence, tokens }) => ({
      token: Number(first[sequence]),
      position: tokens.length,
      sequence,
      ...(samplers[sequence] !== undefined && { sampler: samplers[sequence] }),
    }));
    const STEPS = 23;
    const out = [decode(llama, rows, 0, STEPS)].flat().map(Number);
    const ofRow = (row: number) => [Number(first[row]), ...out.filter((_, at) => at % 2 === row)];
    const end = expected[0]?.findIndex((token) => llama.isEnd(token)) ?? -1;
    expect(end).toBeGreaterThan(3);
    for (const row of [0, 1]) {
      expect(ofRow(row).slice(0, end + 1)).toEqual(expected[row]?.slice(0, end + 1) ?? []);
      expect(ofRow(row).slice(end + 1)).toEqual(Array(STEPS - end).fill(-1));
    }
    expect(() => decode(llama, prefill([50, 51], 3, samplers[0]), 0, 2)).toThrow(LlamaError);
    for (const slot of samplers) llama.freeSampler(slot);
  });

  test("removing the end of a sequence and computing it again changes nothing", () => {
    const tokens = question(llama, CAPITAL);
    const slot = sampler(llama);
    clear(llama);
    const once = decode(llama, prefill(tokens, 0, slot));
    expect(llama.kvRemove(0, 4, -1)).toBe(true);
    expect(decode(llama, prefill(tokens.subarray(4), 0, slot, 4))).toEqual(once);
    llama.freeSampler(slot);
  });

  test("a copied prefix need not be computed", () => {
    const tokens = question(llama, CAPITAL);
    const expected = alone(CAPITAL, {}, 3);
    clear(llama);
    const slot = sampler(llama);
    const split = tokens.length - 3;
    decode(llama, prefill(tokens.subarray(0, tokens.length - 1), 1));
    llama.kvCopy(1, 5, split, split);
    expect(llama.kvRemove(1, 0, -1)).toBe(true);
    // The copy holds exactly `split` positions: only the next one is accepted.
    const out = [decode(llama, prefill(tokens.subarray(split), 5, slot, split))].flat();
    for (let position = tokens.length; out.length < 3; position++) {
      out.push(...[decode(llama, [{ token: Number(out.at(-1)), position, sequence: 5, sampler: slot }])].flat());
    }
    expect(out).toEqual(expected);
    llama.freeSampler(slot);
  });

  test("a moved sequence goes on under its new id, in the place of what that held", () => {
    const expected = alone(STORY, {}, 2);
    const story = question(llama, STORY);
    const other = question(llama, CAPITAL);
    clear(llama);
    decode(llama, [...prefill(story.subarray(0, -1), 1), ...prefill(other, 5)]);
    llama.kvMove(1, 5);
    decode(llama, prefill(other, 1));
    const slot = sampler(llama);
    const last = { token: story.at(-1) ?? 0, position: story.length - 1, sampler: slot };
    expect(decode(llama, [{ ...last, sequence: 5 }])).toEqual([expected[0] as number]);
    expect(() => llama.kvMove(5, 5)).toThrow(LlamaError);
    expect(() => llama.kvMove(5, 8)).toThrow(LlamaError);
    llama.freeSampler(slot);
  });

  test("a copy keeps its content, even when its source is overwritten before the next step", () => {
    const expected = alone(STORY, {}, 2);
    const story = question(llama, STORY);
    const other = question(llama, CAPITAL);
    clear(llama);
    decode(llama, [...prefill(story.subarray(0, -1), 1), ...prefill(other, 2)]);
    const saved = llama.kvSave(2, 0, -1) ?? new Uint8Array();
    llama.kvCopy(1, 0, story.length - 1, story.length - 1);
    const copied = llama.kvSave(0, 0, -1) ?? new Uint8Array();
    expect(llama.kvRemove(1, 0, -1)).toBe(true);
    expect(llama.kvRestore(1, [saved])).toBe(true);
    const slot = sampler(llama);
    const last = { token: story.at(-1) ?? 0, position: story.length - 1, sampler: slot };
    expect(decode(llama, [{ ...last, sequence: 0 }])).toEqual([expected[0] as number]);
    expect(llama.kvRestore(3, [copied])).toBe(true);
    expect(decode(llama, [{ ...last, sequence: 3 }])).toEqual([expected[0] as number]);
    llama.freeSampler(slot);
  });

  test("a copy replaces the earlier content of its sequence", () => {
    clear(llama);
    decode(llama, [...prefill([20, 21, 22], 0), ...prefill([30, 31, 32, 33], 1)]);
    llama.kvCopy(0, 1, 2, 2);
    expect(decode(llama, prefill([40], 1, undefined, 2))).toEqual([]);
    expect(() => llama.kvCopy(0, 0, 1, 1)).toThrow(LlamaError);
    expect(() => llama.kvCopy(0, 1, 0, 0)).toThrow(LlamaError);
    expect(() => llama.kvCopy(0, 8, 1, 1)).toThrow(LlamaError);
  });

  test("a saved sequence continues where it was, even under another id", () => {
    const expected = alone(STORY, {}, 6);
    clear(llama);
    const tokens = question(llama, STORY);
    decode(llama, prefill(tokens.slice(0, -1), 2));
    const whole = [llama.kvSave(2, 0, -1) ?? new Uint8Array()];
    const halves = [llama.kvSave(2, 0, 5), llama.kvSave(2, 5, -1)].filter((part) => part !== undefined);
    expect(halves.length).toBe(layout === "unified" ? 2 : 0);
    clear(llama);
    const saved = layout === "unified" ? halves : whole;
    expect(llama.kvRestore(1, saved)).toBe(true);
    const slot = sampler(llama);
    const last = { token: tokens.at(-1) ?? 0, position: tokens.length - 1, sequence: 1, sampler: slot };
    expect(decode(llama, [last])).toEqual([expected[0] as number]);
    llama.freeSampler(slot);
    expect(llama.kvRestore(0, whole)).toBe(true);
    expect(llama.kvRestore(0, [whole[0]?.subarray(0, 100) ?? new Uint8Array(1)])).toBe(false);
    expect(llama.kvSave(99, 0, -1)).toBeUndefined();
  });

  test("with a full cache the batch is refused, and the cache stays as it was", () => {
    clear(llama);
    const room = llama.model().contextPerSequence;
    for (let at = 0; at < room; at += 512) {
      const rows = prefill(new Int32Array(Math.min(512, room - at)).fill(50), 0, undefined, at);
      expect(decode(llama, rows)).toEqual([]);
    }
    expect(decode(llama, prefill([50], 0, undefined, room))).toBe("no-capacity");
    expect(llama.kvRemove(0, room - 1, -1)).toBe(true);
    expect(decode(llama, prefill([50], 0, undefined, room - 1))).toEqual([]);
    clear(llama);
    expect(answer(llama, CAPITAL)).toContain("Paris");
  });

  test.each([
    ["greedy", {}],
    ["sampled", { temperature: 0.9, seed: 5 }],
  ] as const)("speculative tokens are verified in one step, and the answer stays the same: %s", (_name, changes) => {
    const expected = alone(STORY, changes, 8);
    clear(llama);
    const slot = sampler(llama, changes);
    const tokens = question(llama, STORY);
    const [first] = decode(llama, prefill(tokens, 0, slot)) as number[];
    expect(first).toBe(expected[0] as number);
    // Three correct tokens, a wrong one, and one after it.
    const guesses = [...expected.slice(0, 4), (expected[4] as number) === 60 ? 61 : 60, 70];
    const rows = guesses.map((token, at) => ({ token, position: tokens.length + at, sequence: 0, sampler: slot }));
    expect(decode(llama, rows)).toEqual([...expected.slice(1, 5), -1, -1]);
    llama.kvRemove(0, tokens.length + 4, -1);
    const next = { token: expected[4] as number, position: tokens.length + 4, sequence: 0, sampler: slot };
    expect(decode(llama, [next])).toEqual([expected[5] as number]);
    llama.freeSampler(slot);
  });

  test("invalid batches are refused before they reach llama.cpp", () => {
    clear(llama);
    const slot = sampler(llama);
    const row = { token: 50, position: 0, sequence: 0 };
    const { vocabulary, batch } = llama.model();
    const refused = (rows: Parameters<typeof decode>[1]) => expect(() => decode(llama, rows)).toThrow(LlamaError);
    refused([]);
    refused([{ ...row, token: vocabulary }]);
    refused([{ ...row, token: -1 }]);
    refused([{ ...row, sequence: 8 }]);
    refused([{ ...row, sequence: -1 }]);
    refused([{ ...row, position: -1 }]);
    refused([{ ...row, sampler: (slot + 1000) as typeof slot }]);
    refused([
      { ...row, sampler: slot },
      { ...row, sequence: 1, sampler: slot },
    ]);
    refused(prefill(new Int32Array(batch + 1), 0));
    // A gap in the positions is detected by llama.cpp itself.
    expect(decode(llama, [row])).toEqual([]);
    refused([{ ...row, position: 7 }]);
    expect(decode(llama, [{ ...row, position: 1, sampler: slot }])).toHaveLength(1);
    llama.freeSampler(slot);
  });
});

test("rows that are sampled by parallel threads get the same tokens as alone", async () => {
  const llama = library();
  await load(llama, { threads: 2, parallel: 8 });
  try {
    const tokens = question(llama, STORY);
    const run = (seeds: readonly number[]) => {
      clear(llama);
      const streams = seeds.map((seed, sequence) => ({
        sequence,
        tokens,
        sampler: sampler(llama, { ...lively, topLogprobs: 2, seed }),
      }));
      const out = generate(llama, streams, 4);
      for (const stream of streams) llama.freeSampler(stream.sampler);
      return out;
    };
    const seeds = [1, 2, 3, 4, 5, 6, 7, 8];
    const alone = seeds.map((seed) => run([seed])[0] ?? []);
    expect(run(seeds)).toEqual(alone);
    expect(new Set(alone.map(String)).size).toBeGreaterThan(2);
  } finally {
    llama.unload();
  }
  // Computing with two threads is very slow while other processes use both cores.
});

/**
 * Allows ten tokens, of which one is drawn at random. Biases that are far apart fix their order and most of their
 * probabilities, because batches of other shapes change the model's own sums slightly, and differently on each
 * processor.
 */
const lively: Partial<SamplerConfig> = {
  temperature: 100,
  topP: 1,
  topK: 10,
  minP: 0,
  logitBias: Array.from({ length: 10 }, (_, at) => [600 + at, 1000 + 50 * at] as const),
};
