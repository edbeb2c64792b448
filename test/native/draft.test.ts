// The draft model in the native library: which tokens it writes, how it stays in step, and what is refused.

import { afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { LlamaError, type DraftJob } from "../../ffi/llama/api.ts";
import type { NativeLlama } from "../../ffi/llama/binding.ts";
import { makeRecurrentModel } from "../models/make-recurrent-model.ts";
import { makeVisionModel } from "../models/make-vision-model.ts";
import { generate, library, load, MODEL, question, sampler, clear } from "./harness.ts";

// Other processes may use the cores.
setDefaultTimeout(30_000);

const MODELS = join(import.meta.dir, "../../vendor/.build/models");
const SUM = "What is 12 + 30?";
const CAPITAL = "What is the capital of France?";

let llama: NativeLlama;
beforeAll(() => {
  llama = library();
});
afterEach(() => llama.unload());

/** Returns the model's own output at temperature 0. */
function said(content: string, count: number): number[] {
  clear(llama);
  const slot = sampler(llama);
  const [tokens = []] = generate(llama, [{ sequence: 0, tokens: question(llama, content), sampler: slot }], count);
  llama.freeSampler(slot);
  return tokens;
}

const job = (tokens: Int32Array, count: number, changes: Partial<DraftJob> = {}): DraftJob => ({
  sequence: 0,
  position: 0,
  tokens,
  count,
  ...changes,
});
const drafted = (jobs: readonly DraftJob[]) => llama.draft(jobs)?.tokens.map((tokens) => tokens && [...tokens]);

describe.each(["unified", "streams", "paged"] as const)("svc-mini as its own draft model, %s KV cache", (layout) => {
  const start = (pMin = 0, context = 2048) => load(llama, { layout, context, draft: { path: MODEL, pMin } });

  test("writes what the model would write, for several sequences at once", async () => {
    expect(await start()).toBeUndefined();
    const [sum, capital] = [said(SUM, 6), said(CAPITAL, 4)];
    const jobs = [
      job(question(llama, SUM), 6),
      job(question(llama, CAPITAL), 4, { sequence: 1 }),
      job(question(llama, CAPITAL), 0, { sequence: 2 }),
    ];
    expect(drafted(jobs)).toEqual([sum, capital, []]);
  });

  test("continues from where it is trimmed, and drops its own tokens", async () => {
    await start();
    const prompt = question(llama, CAPITAL);
    const expected = said(CAPITAL, 6);
    expect(drafted([job(prompt, 3)])).toEqual([expected.slice(0, 3)]);
    // Two of the tokens were accepted and the third was not, so it is trimmed and replaced.
    const known = Int32Array.from(expected.slice(0, 3));
    expect(drafted([job(known.subarray(2), 3, { position: prompt.length + 2 })])).toEqual([expected.slice(3, 6)]);
    expect(drafted([job(known, 2, { position: prompt.length })])).toEqual([expected.slice(3, 5)]);
  });

  test("stops before the end of a turn", async () => {
    await start();
    const whole = said(CAPITAL, 20);
    const end = whole.findIndex((token) => llama.isEnd(token));
    expect(end).toBeGreaterThan(0);
    expect(drafted([job(question(llama, CAPITAL), 20)])).toEqual([whole.slice(0, end)]);
  });

  test("stops at a token of which it is not certain", async () => {
    await start(1);
    expect(drafted([job(question(llama, "Tell me a short story."), 16)])?.[0]?.length).toBeLessThan(16);
  });

  test("reports a full cache, and can start again", async () => {
    await start(0, 512);
    const room = llama.model().contextPerSequence;
    const filler = new Int32Array(512).fill(50);
    for (let at = 0; at < room; at += 512) {
      expect(llama.draft([job(filler.subarray(0, Math.min(512, room - at)), 0, { position: at })])).toBeDefined();
    }
    expect(llama.draft([job(filler.subarray(0, 1), 1, { position: room })])).toBeUndefined();
    expect(drafted([job(question(llama, CAPITAL), 3)])).toEqual([said(CAPITAL, 3)]);
  });
});

test("invalid jobs are refused", async () => {
  await load(llama, { draft: { path: MODEL, pMin: 0 } });
  const tokens = new Int32Array([50]);
  const refused = (one: DraftJob) => expect(() => llama.draft([one])).toThrow(LlamaError);
  refused(job(tokens, 1, { sequence: 99 }));
  refused(job(tokens, 1, { sequence: -1 }));
  refused(job(tokens, 1, { position: -1 }));
  refused(job(tokens, -1));
  refused(job(new Int32Array(0), 1));
  refused(job(new Int32Array(llama.model().batch + 1), 1));
  // An unknown token only skips its own job; the other jobs are done.
  const unknown = Int32Array.from([llama.model().vocabulary]);
  const capital = said(CAPITAL, 2);
  expect(drafted([job(unknown, 1), job(question(llama, CAPITAL), 2, { sequence: 1 })])).toEqual([undefined, capital]);
});

test("drafting without a draft model is an error", async () => {
  await load(llama);
  expect(() => llama.draft([job(new Int32Array([50]), 1)])).toThrow("no draft model is loaded");
});

test("a model with another vocabulary is refused with a message", async () => {
  const { model } = makeVisionModel("tiles", MODELS);
  expect(await load(llama, { draft: { path: model, pMin: 0 } })).toMatch(
    new RegExp(`^the draft model ${model} does not have the model's vocabulary: `),
  );
  expect(await load(llama, { draft: { path: join(MODELS, "none.gguf"), pMin: 0 } })).toContain("the draft model");
  expect(await load(llama)).toBeUndefined();
});

test("a model that cannot roll back reports that, and cannot draft", async () => {
  const path = makeRecurrentModel(MODELS);
  expect(await load(llama, { draft: { path, pMin: 0 } })).toContain("their tokens cannot be taken back");
  expect(await load(llama, { path })).toBeUndefined();
  expect(llama.model().canRollBack).toBe(false);
  llama.unload();
  await load(llama);
  expect(llama.model().canRollBack).toBe(true);
});
