// LoRA adapters in the native library: which weights compute an answer, and the errors for files that do not fit.

import { afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { LlamaError, type AdapterScale } from "../../ffi/llama/api.ts";
import type { NativeLlama } from "../../ffi/llama/binding.ts";
import { makeAdapter, writeAdapter } from "../models/make-adapter.ts";
import { sharedFolder } from "../support/folders.ts";
import { answer, chunkBegin, decode, library, load, prefill, question, sampler, tokenize, clear } from "./harness.ts";

// Other processes may use the cores.
setDefaultTimeout(30_000);

const STORY = "Tell me a story.";
const A = { id: 0, scale: 1 };
const B = { id: 1, scale: 1 };

let llama: NativeLlama;
let files: readonly [string, string];
const folder = sharedFolder();

beforeAll(() => {
  llama = library();
  files = [makeAdapter(folder, 1), makeAdapter(folder, 2)];
});
afterEach(() => llama.unload());

const tell = (adapters: readonly AdapterScale[]): string => {
  llama.setAdapters(adapters);
  return answer(llama, STORY);
};

test("each set of adapters gives its own answers, and the model without adapters its usual ones", async () => {
  expect(await load(llama, { adapters: files })).toBeUndefined();
  const sets = [[], [{ id: 0, scale: 0.5 }], [A], [B], [A, B]];
  const stories = sets.map(tell);
  expect(new Set(stories).size).toBe(sets.length);
  expect(sets.toReversed().map(tell)).toEqual(stories.toReversed());
  expect(tell([{ id: 0, scale: 0 }])).toBe(stories[0] ?? "");
  llama.unload();
  expect(await load(llama)).toBeUndefined();
  expect(answer(llama, STORY)).toBe(stories[0] ?? "");
});

test("switching adapters does not flood the log", async () => {
  await load(llama, { adapters: files });
  llama.drainLog();
  for (const set of [[A], [B], []]) tell(set);
  expect(llama.drainLog()).toEqual([]);
});

const LAYOUTS = ["unified", "streams", "paged"] as const;
test.each(LAYOUTS)("a chunk keeps its adapters while steps compute with others; %s KV cache", async (layout) => {
  await load(llama, { adapters: files, layout });
  const prompt = tokenize(llama, "Once upon a time there was a small dog, and its home was near the sea. ".repeat(9));
  const [head, last] = [prompt.slice(0, llama.model().chunk), prompt.slice(llama.model().chunk)];
  /** Returns the output of sequence 1 when `compute` computes the start of its prompt. */
  const said = (set: readonly AdapterScale[], compute: () => void) => {
    clear(llama);
    llama.setAdapters(set);
    compute();
    llama.setAdapters(set);
    const slot = sampler(llama, { topLogprobs: 0 });
    const tokens: number[] = [];
    const logprobs: number[] = [];
    let rows = prefill(last, 1, slot, head.length);
    while (tokens.length < 6) {
      const [token = -1] = decode(llama, rows) as number[];
      rows = [{ token, position: prompt.length + tokens.length, sequence: 1, sampler: slot }];
      tokens.push(token);
      logprobs.push(llama.logprobs(slot)[0]?.logprob ?? Number.NaN);
    }
    llama.freeSampler(slot);
    return { tokens, logprobs };
  };
  const sets = [[A], [], [B], [A, B], [A]];
  const alone = sets.map((set) => said(set, () => decode(llama, prefill(head, 1))));
  expect(new Set(alone.map(({ logprobs }) => logprobs[0])).size).toBe(sets.length - 1);
  const others = question(llama, STORY);
  llama.drainLog();
  let pauses = 0;
  const beside = sets.map((set, at) =>
    said(set, () => {
      chunkBegin(llama, prefill(head, 1));
      for (; llama.chunkResume(0) === "paused"; pauses++) {
        llama.setAdapters(sets[(at + pauses) % sets.length] ?? []);
        decode(llama, prefill(others, 0));
        llama.kvRemove(0, 0, -1);
      }
    }),
  );
  expect(pauses).toBeGreaterThan(sets.length);
  expect(beside).toEqual(alone);
  expect(llama.drainLog()).toEqual([]);
});

test("an adapter that was not loaded cannot be selected", async () => {
  await load(llama, { adapters: files });
  expect(() => llama.setAdapters([{ id: 2, scale: 1 }])).toThrow(LlamaError);
  expect(() => llama.setAdapters([{ id: -1, scale: 1 }])).toThrow("there is no such adapter");
});

test("a file for another model fails the load with its name, and a later load succeeds", async () => {
  const wide = join(folder, "wide.gguf");
  writeAdapter(wide, 3, { width: 320 });
  const error = await load(llama, { adapters: [files[0], wide] });
  expect(error).toContain(`cannot use the adapter ${wide}`);
  expect(error).toContain("incorrect shape");
  expect(await load(llama, { adapters: [files[0]] })).toBeUndefined();
  expect(tell([A])).not.toBe(tell([]));
});
