// The paged KV cache: memory is taken as sequences are filled, and given back with them.

import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import type { SamplerId } from "../../ffi/llama/api.ts";
import type { NativeLlama } from "../../ffi/llama/binding.ts";
import { makeRecurrentModel } from "../models/make-recurrent-model.ts";
import { chunkBegin, decode, library, load, prefill, sampler, clear } from "./harness.ts";

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

const range = (length: number) => Array.from({ length }, (_, at) => at);

/** Memory of the KV cache, in bytes: it is a file without a name that this process holds. */
function taken(): number {
  const folder = "/proc/self/fd";
  const name = readdirSync(folder).find((one) => readLink(join(folder, one)).startsWith("/memfd:svc-kv-cache"));
  return name === undefined ? 0 : 512 * statSync(join(folder, name)).blocks;
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

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
  const alone = taken();
  expect(alone / one).toBeWithin(0.95, 1.05);
  // A conversation of its own, and copies that share what they have in common.
  for (let at = 0; at < TOKENS; at += 500)
    decode(llama, prefill(tokens.slice(at, at + 500).toReversed(), 1, undefined, at));
  expect(taken() / one).toBeWithin(1.95, 2.05);
  for (let sequence = 2; sequence < SEQUENCES; sequence++) llama.kvCopy(0, sequence, TOKENS - 1, TOKENS - 1);
  expect(taken() / one).toBeWithin(1.95, 2.1);
  // What is computed together takes no more than what is computed alone, once it is done.
  const ends = range(SEQUENCES - 2).flatMap((at) => prefill(tokens.slice(0, 20), at + 2, undefined, TOKENS - 1));
  decode(llama, ends, 0, 1, true);
  expect(taken() / one).toBeWithin(2, 2.2);
  for (let sequence = 2; sequence < SEQUENCES; sequence++) {
    llama.kvRemove(sequence, TOKENS - 1, -1);
    llama.kvRelease(sequence, TOKENS - 1);
  }
  // Those that share it keep it when its owner goes, and no more than that.
  expect(llama.kvRemove(0, 0, -1)).toBe(true);
  expect(llama.kvRemove(1, TOKENS / 2, -1)).toBe(true);
  llama.kvRelease(1, TOKENS / 2);
  expect(taken() / one).toBeWithin(1.45, 1.6);
  for (let sequence = 1; sequence < SEQUENCES; sequence++) llama.kvRemove(sequence, 0, -1);
  expect(taken()).toBe(0);
});

test("sequences that share a prefix write on, and over it, without changing each other's", async () => {
  expect(await load(llama, { layout: "paged", parallel: SEQUENCES, sequences: SEQUENCES })).toBeUndefined();
  let state = 5;
  const random = (below: number) => ((state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff) >> 8) % below;
  const held: number[][] = Array.from({ length: SEQUENCES }, () => []);
  const rowsAfter = (sequence: number, by: number) => {
    const mine = held[sequence] ?? [];
    const added = Array.from({ length: Math.min(by, 500 - mine.length) }, () => 20 + random(300));
    const rows = prefill(added, sequence, undefined, mine.length);
    held[sequence] = [...mine, ...added];
    return rows;
  };
  const extend = (sequence: number, by: number): void => {
    const rows = rowsAfter(sequence, by);
    if (rows.length > 0) decode(llama, rows);
  };
  const extendTogether = (first: number, count: number): void => {
    const sequences = range(count).map((at) => (first + 3 * at) % SEQUENCES);
    const rows = sequences.toSorted((a, b) => a - b).flatMap((sequence) => rowsAfter(sequence, 1 + random(60)));
    if (rows.length > 0) decode(llama, rows, 0, 1, true);
  };
  const keep = (sequence: number, cells: number): void => {
    llama.kvRemove(sequence, cells, -1);
    if (cells > 0) llama.kvRelease(sequence, cells);
    held[sequence] = (held[sequence] ?? []).slice(0, cells);
  };
  extend(0, 200);
  for (let turn = 0; turn < 150; turn++) {
    const [from, to] = [random(SEQUENCES), random(SEQUENCES)];
    const mine = held[from] ?? [];
    const what = random(6);
    if (what === 0 && from !== to && mine.length > 0) {
      const cells = 1 + random(mine.length);
      llama.kvCopy(from, to, cells, cells);
      held[to] = mine.slice(0, cells);
    } else if (what === 2 && from !== to) {
      llama.kvMove(from, to);
      held[to] = mine;
      held[from] = [];
    } else if (what === 1) keep(from, random(mine.length + 1));
    else if (what === 3) extendTogether(from, 2 + random(4));
    else extend(from, 1 + random(60));
  }
  // Each one's next token is as likely as when it is computed alone. Rows of other lengths round a little differently.
  const slot = sampler(llama, { topLogprobs: 3 });
  const next = (sequence: number, tokens: readonly number[]) => {
    llama.kvRemove(sequence, tokens.length - 1, -1);
    llama.kvRelease(sequence, tokens.length - 1);
    decode(llama, [{ token: tokens.at(-1) ?? 0, position: tokens.length - 1, sequence, sampler: slot }]);
    return new Map(llama.logprobs(slot).map(({ token, logprob }) => [token, logprob]));
  };
  const likely = held.map((tokens, sequence) => (tokens.length > 1 ? next(sequence, tokens) : undefined));
  expect(likely.filter((one) => one).length).toBeGreaterThan(3);
  const differences: number[] = [];
  for (const [sequence, tokens] of held.entries()) {
    const before = likely[sequence];
    if (!before) continue;
    clear(llama);
    decode(llama, prefill(tokens.slice(0, -1), 0));
    const alone = [...next(0, tokens)].filter(([token]) => before.has(token));
    expect(alone.length).toBeGreaterThan(0);
    for (const [token, logprob] of alone) differences.push(Math.abs(logprob - (before.get(token) ?? 0)));
  }
  expect(Math.max(...differences)).toBeLessThan(0.5);
  expect(differences.reduce((sum, one) => sum + one, 0) / differences.length).toBeLessThan(0.1);
  llama.freeSampler(slot);
});

test("groups of the same shape are computed one after the other, each in its own region", async () => {
  expect(await load(llama, { layout: "paged", parallel: 4, sequences: 4 })).toBeUndefined();
  const slots = [sampler(llama), sampler(llama)] as const;
  const text = (from: number, length: number) => range(length).map((at) => 50 + ((from + 7 * at) % 150));
  const prompts = range(4).map((at) => [...text(90 * Math.floor(at / 2), 100), ...text(31 * at, 40)]);
  const ofPrompt = (sequence: number, from: number, slot: SamplerId) =>
    prefill((prompts[sequence] ?? []).slice(from), sequence, slot, from);
  const alone = prompts.map((_, sequence) => decode(llama, ofPrompt(sequence, 0, slots[0])));
  expect(new Set(alone.map(String)).size).toBeGreaterThan(2);
  clear(llama);
  for (const first of [0, 2]) {
    decode(llama, prefill((prompts[first] ?? []).slice(0, 100), first));
    llama.kvCopy(first, first + 1, 100, 100);
  }
  const said = [0, 2].flatMap((first) =>
    [decode(llama, [...ofPrompt(first, 100, slots[0]), ...ofPrompt(first + 1, 100, slots[1])], 0, 1, true)].flat(),
  );
  expect(said).toEqual(alone.flat());
  for (const slot of slots) llama.freeSampler(slot);
});

test("sequences are computed together while a chunk of another is paused", async () => {
  expect(await load(llama, { layout: "paged", parallel: 4, sequences: 4 })).toBeUndefined();
  const slots = [sampler(llama), sampler(llama), sampler(llama)] as const;
  const tokens = range(100).map((at) => 50 + ((7 * at) % 150));
  const tails = range(3).map((sequence) => range(30).map((at) => 60 + ((31 * sequence + 11 * at) % 150)));
  const ofTail = (sequence: number) => prefill(tails[sequence] ?? [], sequence, slots[sequence], 100);
  decode(llama, prefill(tokens, 0));
  for (const sequence of [1, 2]) llama.kvCopy(0, sequence, 100, 100);
  const alone = range(3).map((sequence) => decode(llama, ofTail(sequence)));
  for (const sequence of range(3)) llama.kvRemove(sequence, 100, -1);
  chunkBegin(llama, prefill((tails[2] ?? []).slice(0, -1), 2, undefined, 100));
  expect(llama.chunkResume(0)).toBe("paused");
  expect([decode(llama, [...ofTail(0), ...ofTail(1)], 0, 1, true)].flat()).toEqual(alone.slice(0, 2).flat());
  expect(llama.chunkResume(10_000)).toBe("done");
  expect(decode(llama, ofTail(2).slice(-1))).toEqual(alone[2] ?? []);
  for (const slot of slots) llama.freeSampler(slot);
});

test.each([
  ["of a state that is not of tokens", { path: makeRecurrentModel(MODELS) }],
  ["without flash attention", { flashAttention: "off" }],
] as const)("is a unified one where its cells could not be freed: %s", async (_, change) => {
  expect(await load(llama, { layout: "paged", context: 1024, ...change })).toBeUndefined();
  expect(llama.model()).toMatchObject({ layout: "unified", context: 1024 });
});

test.if(isLinux)("the first chunk of a prompt takes no more memory with many sequences than with few", async () => {
  const growth = async (sequences: number) => {
    const script = join(import.meta.dir, "fixtures/first-chunk.ts");
    const child = Bun.spawn([process.execPath, script, String(sequences)], { stdout: "pipe" });
    return Number(await child.stdout.text());
  };
  const few = await growth(4);
  expect(few).toBeGreaterThan(0);
  // Their logits would take 2.5 MB.
  expect((await growth(250)) - few).toBeLessThan(1.2 * MIB);
});
