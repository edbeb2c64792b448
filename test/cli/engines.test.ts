// The options with which the engines of a Config are created.

import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nativeFiles } from "../../ffi/runtime/native-files.ts";
import { systemEngine, transcriptionEngines } from "../../src/cli/engines.ts";
import { prepareModel } from "../../src/cli/prepare-model.ts";
import { recognitionEngine } from "../../src/cli/recognition-engine.ts";
import { createGatewayServices } from "../../src/cli/runtime.ts";
import { speechEngines } from "../../src/cli/speech-engines.ts";
import { MemoryBudget } from "../../src/engine/process/memory-budget.ts";
import { testConfig } from "../http/harness.ts";
import { makeVisionModel } from "../models/make-vision-model.ts";
import { isBuilt } from "../native/whisper-harness.ts";
import { temporaryFolder } from "../support/folders.ts";
import { testLaunch } from "../support/launch.ts";
import { RecordingLog } from "../support/recording-log.ts";
import { plainRequest } from "../support/request.ts";

const native = isBuilt ? nativeFiles("") : undefined;
const refused = { code: "engine_unavailable", message: expect.stringContaining("0.0 MiB are free") };

test.skipIf(!native)("the system model and text recognition are not loaded without enough memory", async () => {
  if (!native) return;
  const launch = testLaunch({ memory: new MemoryBudget(() => 0) });
  const { signal } = new AbortController();
  const system = systemEngine({ config: testConfig, launch, native });
  expect(
    await Array.fromAsync(system.generate(plainRequest("?"), signal)).catch((error: unknown) => error),
  ).toMatchObject(refused);
  const reader = recognitionEngine(undefined, { config: testConfig, launch, native });
  const work = { path: "/nowhere", field: "file", task: {}, maxPages: 1 };
  expect(await Array.fromAsync(reader.run({ work }, signal)).catch((error: unknown) => error)).toMatchObject(refused);
  await Promise.all([system.stop(), reader.stop()]);
});

test("a projector that is cut off, or another file, is refused before anything is unpacked", () => {
  const folder = temporaryFolder();
  const { model, projector } = makeVisionModel("tiles", folder);
  const half = join(folder, "half.gguf");
  writeFileSync(half, readFileSync(projector).subarray(0, -1000));
  const unpacked = () => {
    throw new Error("unpacked");
  };
  const prepare = (mmproj: string) => prepareModel({ ...testConfig, model, mmproj }, unpacked);
  const refused = (said: string) =>
    expect.objectContaining({ name: "ModelFileError", message: expect.stringContaining(said) });
  expect(() => prepare(half)).toThrow(refused("half.gguf is incomplete"));
  expect(() => prepare(model)).toThrow(refused("is not a projector"));
  expect(() => prepare(projector)).toThrow("unpacked");
});

test.skipIf(!native)("every model that is loaded on first use has an engine that operators see", async () => {
  const { router, engines } = await createGatewayServices(testConfig);
  const offered = router.models().map(({ id }) => id);
  expect(offered).toContain("tesseract");
  expect(engines().map(({ model }) => model)).toEqual(expect.arrayContaining(offered));
});

test("voices for piper without the program piper are reported", () => {
  const log = new RecordingLog();
  const native = { libraries: "", embeddedModel: "", embeddedImages: { model: "", textEncoder: "", taesd: "" } };
  const config = { ...testConfig, hostVoices: true, piperVoices: "/voices" };
  const path = process.env["PATH"];
  process.env["PATH"] = "/nowhere";
  try {
    speechEngines(undefined, { config, launch: testLaunch({ log }), native });
  } finally {
    process.env["PATH"] = path;
  }
  expect(log.lines.map(({ message }) => message)).toEqual(["--piper-voices has no effect: there is no piper on PATH"]);
});

test("speech detection is on when the detector is there, unless the operator has all sound transcribed", () => {
  const file = { path: "w.bin", id: "w", bytes: 1, modified: 0, translates: true, stateBytes: 1 };
  const files = { libraries: "", embeddedModel: "", embeddedImages: { model: "", textEncoder: "", taesd: "" } };
  const detectsSpeech = (vad: boolean, embeddedVad?: string) => {
    const given = { ...files, ...(embeddedVad !== undefined && { embeddedVad }) };
    return transcriptionEngines([file], { config: { ...testConfig, vad }, launch: testLaunch(), native: given })[0]
      ?.detectsSpeech;
  };
  expect([detectsSpeech(true, "vad.bin"), detectsSpeech(true), detectsSpeech(false, "vad.bin")]).toEqual([
    true,
    false,
    false,
  ]);
});
