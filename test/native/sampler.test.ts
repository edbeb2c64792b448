import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SAMPLER_DEFAULTS, type ChatPrompt, type SamplerConfig, type SamplerId } from "../../ffi/llama/api.ts";
import type { NativeLlama } from "../../ffi/llama/binding.ts";
import {
  chat,
  decode,
  generate,
  library,
  load,
  prefill,
  prompt,
  question,
  sampler,
  textOf,
  tokenize,
  clear,
} from "./harness.ts";

let llama: NativeLlama;

beforeAll(async () => {
  llama = library();
  await load(llama);
});
afterAll(() => llama.unload());

const CAPITAL = "What is the capital of France?";

/** Returns the first token of an answer with its log probabilities. */
function first(content: string, changes: Partial<SamplerConfig>) {
  clear(llama);
  const slot = sampler(llama, changes);
  const [token] = decode(llama, prefill(question(llama, content), 0, slot));
  const logprobs = llama.logprobs(slot);
  llama.freeSampler(slot);
  return { token: Number(token), logprobs };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

describe("log probabilities", () => {
  test("start with the chosen token, followed by the best alternatives in order", () => {
    const { token, logprobs } = first(CAPITAL, { topLogprobs: 5 });
    const [chosen, ...top] = logprobs;
    expect(chosen?.token).toBe(token);
    expect(top).toHaveLength(5);
    expect(top[0]).toEqual({ token, logprob: Number(chosen?.logprob) });
    const values = top.map(({ logprob }) => logprob);
    expect(values).toEqual(values.toSorted((a, b) => b - a));
    expect(new Set(top.map((entry) => entry.token)).size).toBe(5);
    expect(sum(values.map(Math.exp))).toBeLessThanOrEqual(1);
  });

  test("add up to a probability of one over the whole vocabulary", () => {
    // The binding returns at most 1024 alternatives; the rest of the 2560 tokens weigh next to nothing here.
    const { logprobs } = first(CAPITAL, { topLogprobs: 5000 });
    expect(logprobs).toHaveLength(1025);
    expect(sum(logprobs.slice(1).map(({ logprob }) => Math.exp(logprob)))).toBeCloseTo(1, 3);
  });

  test("are the model's own, unaffected by temperature and penalties", () => {
    const plain = first(CAPITAL, { topLogprobs: 3 });
    const bent = first(CAPITAL, { topLogprobs: 3, temperature: 2, repetitionPenalty: 1.5, topK: 1 });
    expect(bent.logprobs.slice(1)).toEqual(plain.logprobs.slice(1));
  });

  test("contain only the token itself with zero alternatives, and nothing when they are off", () => {
    expect(first(CAPITAL, { topLogprobs: 0 }).logprobs).toHaveLength(1);
    expect(first(CAPITAL, { topLogprobs: -1 }).logprobs).toEqual([]);
  });
});

describe("settings", () => {
  const generated = (changes: Partial<SamplerConfig>, content = "Repeat: yes yes yes yes yes", prime = false) => {
    clear(llama);
    const tokens = question(llama, content);
    const slot = sampler(llama, changes, prime ? content : "");
    const [out = []] = generate(llama, [{ sequence: 0, tokens, sampler: slot }], 24);
    llama.freeSampler(slot);
    return out;
  };

  test("temperature 0 is greedy, and so is a neutral penalty or a shortlist of one", () => {
    const greedy = generated({});
    expect(generated({ ignoreEos: false, temperature: 0, topK: 1 })).toEqual(greedy);
    expect(generated({ temperature: 1, topK: 1, seed: 3 })).toEqual(greedy);
    expect(generated({ repetitionPenalty: 1.3, repetitionWindow: 0 })).toEqual(greedy);
  });

  test("a penalty works at temperature 0, and includes the prompt when primed with it", () => {
    const distinct = (tokens: readonly number[]) => new Set(tokens).size;
    const strong = { repetitionPenalty: 5, repetitionWindow: 256 };
    const penalised = generated(strong);
    expect(distinct(penalised)).toBeGreaterThan(distinct(generated({})));
    expect(generated(strong, undefined, true)).not.toEqual(penalised);
    expect(generated({ presencePenalty: 50 })).not.toEqual(generated({}));
  });

  test("the end token is never sampled when it is ignored", () => {
    expect(generated({}, CAPITAL).some((token) => llama.isEnd(token))).toBe(true);
    expect(generated({ ignoreEos: true }, CAPITAL).some((token) => llama.isEnd(token))).toBe(false);
  });

  test("seeds cover 32 bits", () => {
    const lively = { temperature: 1.5, topK: 0, topP: 1, minP: 0 };
    expect(generated({ ...lively, seed: 0xffff_fffe })).toEqual(generated({ ...lively, seed: 0xffff_fffe }));
    expect(generated({ ...lively, seed: 0xffff_fffe })).not.toEqual(generated({ ...lively, seed: 0x7fff_fffe }));
  });

  test("invalid values are refused", () => {
    expect(() => sampler(llama, { repetitionPenalty: 0 })).toThrow();
    expect(() => sampler(llama, { temperature: Number.NaN })).toThrow();
  });
});

describe("a minimum length with tools on offer", () => {
  const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const tools = [
    { type: "function", function: { name: "get_weather", description: "Weather of a city.", parameters } },
  ];
  const WEATHER = "What is the weather in Paris?";
  /** Returns the answer up to its end token. */
  const answered = (content: string, changes: Partial<SamplerConfig>, more: Partial<ChatPrompt> = {}) => {
    clear(llama);
    const config = { ...SAMPLER_DEFAULTS, temperature: 0, seed: 1, ...changes };
    const request = chat([{ role: "user", content }], { tools, sampler: config, ...more });
    const { tokens, sampler: slot } = prompt(llama, request);
    if (slot === undefined) throw new Error("no sampler was made");
    const [out = []] = generate(llama, [{ sequence: 0, tokens, sampler: slot }], 80);
    llama.freeSampler(slot);
    const end = out.findIndex((token) => llama.isEnd(token));
    return end < 0 ? out : out.slice(0, end);
  };

  test("lengthens an answer of text", () => {
    const free = answered(CAPITAL, {}).length;
    expect(free).toBeLessThan(60);
    expect(answered(CAPITAL, { ignoreEos: true })).toHaveLength(80);
    const longer = answered(CAPITAL, { minTokens: free + 10 }).length;
    expect(longer).toBeGreaterThanOrEqual(free + 10);
    expect(longer).toBeLessThan(80);
  });

  test.each(["auto", "required"] as const)("adds nothing to a whole call (tool choice %s)", (toolChoice) => {
    const call = answered(WEATHER, {}, { toolChoice });
    expect(textOf(llama, call)).toContain("Paris");
    expect(call.length).toBeLessThan(60);
    expect(answered(WEATHER, { ignoreEos: true }, { toolChoice })).toEqual(call);
  });
});

test("samplers and prompts do not leak memory", () => {
  const round = () => {
    for (let i = 0; i < 150; i++) {
      const slots = [sampler(llama, { temperature: 1 }), sampler(llama, { topLogprobs: 5 })];
      tokenize(llama, "some text ".repeat(50));
      for (const slot of slots) llama.freeSampler(slot);
    }
    Bun.gc(true);
    return process.memoryUsage.rss();
  };
  round();
  const before = round();
  for (let i = 0; i < 6; i++) round();
  expect((round() - before) / 2 ** 20).toBeLessThan(16);
});

test("log probabilities of a prompt are those of its tokens in order, also when threads compute them", async () => {
  const tokens = tokenize(llama, "Once upon a time there was a small dog, and its home was near the sea.");
  const scored = async (threads: number) => {
    llama.unload();
    await load(llama, { threads });
    const config = { ...SAMPLER_DEFAULTS, temperature: 0, seed: 1, topLogprobs: 2 };
    const { sampler: slot } = prompt(llama, { tokens: [...tokens], score: true, sampler: config });
    if (slot === undefined) throw new Error("no sampler was made");
    const scorer = (-2 - slot) as SamplerId;
    const rows = prefill(tokens.slice(0, -1), 0).map((row) => ({ ...row, sampler: scorer }));
    // A prompt is scored over several steps.
    for (const part of [rows.slice(0, 10), rows.slice(10)]) decode(llama, part);
    const scores = llama.scores(slot, rows.length);
    llama.freeSampler(slot);
    return scores.map((entries) => entries.map(({ token, logprob }) => [token, logprob.toFixed(3)]));
  };
  const alone = await scored(1);
  expect(alone.map(([own]) => own?.[0])).toEqual([...tokens].slice(1));
  expect(await scored(2)).toEqual(alone);
});
