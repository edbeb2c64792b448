// The paged KV cache: memory is taken as sequences are filled, and given back with them.

import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { NativeLlama } from "../../ffi/llama/binding.ts";
import { makeRecurrentModel } from "../models/make-recurrent-model.ts";
import { decode, library, load, prefill, sampler } from "./harness.ts";

// Other processes may have the cores.
setDefaultTimeout(30_000);

const MODELS = join(import.meta.dir, "../../vendor/.build/models");
const SEQUENCES = 8;
const TOKENS = 2000;
const MIB = 2 ** 20;

let llama: NativeLlama;
beforeAll(() => {
  llama = library();
});
afterEach(() => llama.unload());

/** Memory of this process that no file stands behind, in bytes. */
const taken = (): number => 1024 * Number(/RssAnon:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);

const isLinux = process.platform === "linux";
if (!isLinux) console.warn("skipped: how much memory a paged cache takes, which is read from Linux's /proc");

test.if(isLinux)("takes the memory of what it holds, and gives back that of what is removed", async () => {
  // Together a hundred times the context.
  const config = { layout: "paged", context: 4096, region: 4096, parallel: SEQUENCES, sequences: 100 } as const;
  expect(await load(llama, { ...config, kvType: "f32" })).toBeUndefined();
  expect(llama.model()).toMatchObject({ layout: "paged", context: 4096, contextPerSequence: 4096, sequences: 100 });
  const tokens = Array.from({ length: TOKENS }, (_, at) => 20 + (at % 200));
  for (let at = 0; at < TOKENS; at += 500) decode(llama, prefill(tokens.slice(at, at + 500), 0, undefined, at));
  const one = llama.kvSave(0, 0, -1)?.length ?? 0;
  expect(one).toBeGreaterThan(5 * MIB);
  const before = taken();
  for (let sequence = 1; sequence < SEQUENCES; sequence++) llama.kvCopy(0, sequence, TOKENS, TOKENS);
  const full = taken();
  expect((full - before) / one).toBeWithin(0.9 * (SEQUENCES - 1), 1.1 * (SEQUENCES - 1));
  for (let sequence = 1; sequence < SEQUENCES; sequence++) {
    expect(llama.kvRemove(sequence, TOKENS / 2, -1)).toBe(true);
    llama.kvGiveBack(sequence, TOKENS / 2);
  }
  expect((full - taken()) / one).toBeWithin(0.4 * (SEQUENCES - 1), 0.6 * (SEQUENCES - 1));
  // What is left goes on as if nothing had been behind it.
  const slot = sampler(llama);
  const next = (sequence: number, from: number) =>
    decode(llama, prefill(tokens.slice(from, from + 5), sequence, slot, from));
  expect(llama.kvRemove(0, TOKENS / 2, -1)).toBe(true);
  expect(next(3, TOKENS / 2)).toEqual(next(0, TOKENS / 2));
  llama.freeSampler(slot);
  for (let sequence = 1; sequence < SEQUENCES; sequence++) llama.kvRemove(sequence, 0, -1);
  expect((full - taken()) / one).toBeGreaterThan(0.9 * (SEQUENCES - 1));
});

test.each([
  ["of a state that is not of tokens", { path: makeRecurrentModel(MODELS) }],
  ["without flash attention", { flashAttention: "off" }],
] as const)("is a unified one where its cells could not be freed: %s", async (_, change) => {
  expect(await load(llama, { layout: "paged", context: 1024, ...change })).toBeUndefined();
  expect(llama.model()).toMatchObject({ layout: "unified", context: 1024 });
});
