// The memory requirement of engines that are loaded on first use: an engine that does not fit is refused before its
// process starts.

import { beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { embeddingEngines, launchWith, transcriptionEngines } from "../../src/cli/engines.ts";
import { imageEngines } from "../../src/cli/image-engines.ts";
import { speechEngines } from "../../src/cli/speech-engines.ts";
import { MemoryBudget } from "../../src/engine/process/memory-budget.ts";
import { createLogger } from "../../src/telemetry/log.ts";
import { readEmbeddingFile } from "../../src/model/model-file.ts";
import { makeEncoder } from "../models/make-encoder.ts";
import { testConfig } from "../http/harness.ts";
import { sharedFolder } from "../support/folders.ts";

const folder = sharedFolder();
beforeAll(() => mkdirSync(join(folder, "voices")));

const config = { ...testConfig, hostVoices: false };
const native = () => ({
  libraries: folder,
  embeddedModel: "",
  embeddedImages: { model: "", textEncoder: "", taesd: "" },
  embeddedVoice: join(folder, "voice.onnx"),
});
const log = createLogger({ level: "error", format: "text", write: () => {}, now: () => 0 });
const launch = () => ({ ...launchWith(config, log), memory: new MemoryBudget(() => 100e6) });
const refused = (model: string, need: string) =>
  `The model ${model} needs at least ${need} of memory; 95.4 MiB are free.`;

describe("with little free memory", () => {
  test.each([
    ["hibari", "286.1 MiB"],
    ["kokoro", "667.6 MiB"],
  ])("%s is not loaded for speech", async (id, need) => {
    const files = { model: join(folder, "model.onnx"), voices: join(folder, "voices") };
    const engine = speechEngines(files, { config, launch: launch(), native: native() }).find(
      ({ model }) => model === id,
    );
    const work = { text: "Hello.", voice: "heart", speed: 1, format: "wav" } as const;
    const said = engine && Array.fromAsync(engine.run({ work }, new AbortController().signal));
    await expect(said).rejects.toThrow(refused(id, need));
  });

  test("a language model is refused for embeddings when its cache and logits do not fit beside the weights", async () => {
    const file = readEmbeddingFile(makeEncoder("causal-last", folder), false);
    const large = { ...file, id: "large", fileBytes: 50e6, vocabulary: 100_000 };
    const [engine] = embeddingEngines([large], { config, launch: launch(), native: native() });
    const said = engine && Array.fromAsync(engine.run({ kind: "embed", inputs: ["a"] }, new AbortController().signal));
    await expect(said).rejects.toThrow(/The model large needs at least 24\d\.\d MiB of memory; 95\.4 MiB are free/);
  });

  test("svc-draw is not loaded, which computes with much more than its small files", async () => {
    const file = join(folder, "draw.safetensors");
    writeFileSync(file, "small");
    const embeddedImages = { model: file, textEncoder: file, taesd: file };
    const parts = { ...native(), embeddedImages, imageLibrary: join(folder, "libimage.so") };
    const [engine] = imageEngines([], { config, launch: launch(), native: parts });
    const work = {
      prompt: "a",
      count: 1,
      seed: 1,
      previews: 0,
      encoding: { format: "png", withParameters: false },
    } as const;
    const drawn = engine && Array.fromAsync(engine.run({ work }, new AbortController().signal));
    await expect(drawn).rejects.toThrow(refused("svc-draw", "143.1 MiB"));
  });

  test("transcription is refused when the weights and the state for a recording do not fit", async () => {
    const file = { path: "w.bin", id: "w", bytes: 3.1e9, modified: 0, translates: true, stateBytes: 1.1e9 };
    const [engine] = transcriptionEngines([file], { config, launch: launch(), native: native() });
    const work = { path: "a", field: "file", translate: false, temperature: 0, words: false };
    const heard = engine && Array.fromAsync(engine.run({ work }, new AbortController().signal));
    await expect(heard).rejects.toThrow(refused("w", "3.9 GiB"));
  });
});
