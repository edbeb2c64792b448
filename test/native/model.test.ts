import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LlamaError } from "../../ffi/llama/api.ts";
import { openLlama, type NativeLlama } from "../../ffi/llama/binding.ts";
import { sharedFolder } from "../support/folders.ts";
import { answer, decode, library, load, loadConfig, MODEL, prefill, sampler, tokenize } from "./harness.ts";

let llama: NativeLlama;
const folder = sharedFolder();

beforeAll(() => {
  llama = library();
});
afterEach(() => llama.unload());

describe("loading", () => {
  test("reports the properties of the model", async () => {
    expect(await load(llama, { context: 1024, parallel: 2, threads: 2 })).toBeUndefined();
    expect(llama.model()).toMatchObject({
      architecture: "qwen3",
      parameters: 4_198_400,
      vocabulary: 2560,
      trainedContext: 4096,
      context: 1024,
      contextPerSequence: 1024,
      batch: 512,
      canRemovePartial: true,
      sampling: {},
    });
    expect(llama.model().device).toMatch(/^CPU \(.*2 threads\)$/);
    expect(llama.version).toMatch(/^llama\.cpp \d+\.\d+\.\d+\S* \([0-9a-f]{7,}\)$/);
  });

  test("divides the context among streams", async () => {
    await load(llama, { context: 2048, parallel: 4, layout: "streams" });
    expect(llama.model()).toMatchObject({ context: 2048, contextPerSequence: 512 });
  });

  test("fails with the reason for a missing file, a file that is not a model, and half a model", async () => {
    const text = join(folder, "text.gguf");
    const half = join(folder, "half.gguf");
    writeFileSync(text, "once upon a time, in a file far away");
    writeFileSync(half, readFileSync(MODEL).subarray(0, 2_000_000));
    expect(await load(llama, { path: join(folder, "none.gguf") })).toContain("No such file");
    expect(await load(llama, { path: text })).toContain("expected 'GGUF'");
    expect(await load(llama, { path: half })).toContain("incomplete");
    expect(await load(llama)).toBeUndefined();
  });

  test("fails with the reason for invalid settings, and another model can be loaded afterwards", async () => {
    expect(await load(llama, { kvType: "q3_7" })).toContain("q3_7");
    expect(await load(llama, { parallel: 100_000 })).toContain("n_seq_max");
    expect(await load(llama, { kvType: "q8_0", flashAttention: "off" })).toContain("flash_attn");
    expect(await load(llama, { kvType: "q8_0" })).toBeUndefined();
    expect(answer(llama, "What is the capital of France?")).toContain("Paris");
  });

  test("is limited to one model per process", async () => {
    await load(llama);
    expect(() => llama.loadStart(loadConfig())).toThrow(LlamaError);
  });

  test("every call without a model is an error, not a crash", () => {
    expect(() => llama.model()).toThrow(LlamaError);
    expect(() => sampler(llama)).toThrow(LlamaError);
    expect(() => tokenize(llama, "hello")).toThrow(LlamaError);
    expect(() => decode(llama, prefill([1], 0))).toThrow(LlamaError);
    expect(() => llama.kvCopy(0, 1, 1, 1)).toThrow(LlamaError);
    expect(llama.kvRemove(0, 0, -1)).toBe(false);
    expect(llama.piece(5).length).toBe(0);
    expect(llama.isEnd(2)).toBe(false);
    expect(llama.loadPoll()).toMatchObject({ state: "failed" });
  });

  test("an error names a folder without the library", () => {
    expect(() => openLlama(folder)).toThrow(LlamaError);
    expect(() => openLlama(folder)).toThrow(folder);
  });

  test("log lines arrive once, with their level", async () => {
    llama.drainLog();
    await load(llama);
    const lines = llama.drainLog();
    expect(lines.some(({ level, text }) => level === "info" && text.includes("qwen3"))).toBe(true);
    expect(lines.every(({ level }) => ["debug", "info", "warn"].includes(level))).toBe(true);
    expect(llama.drainLog()).toEqual([]);
  });
});
