// What --pulled-models makes of a folder of downloads of all kinds.

import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pulledModels } from "../../src/cli/pulled-engines.ts";
import { ModelStore } from "../../src/store/models/model-store.ts";
import { testConfig } from "../http/harness.ts";
import { MODEL } from "../native/harness.ts";
import { temporaryFolder } from "../support/folders.ts";
import { ggufBytes, llama, type GgufPlan } from "../support/gguf-bytes.ts";
import { testLaunch } from "../support/launch.ts";
import { RecordingLog } from "../support/recording-log.ts";
import { storeModel } from "../support/store-model.ts";

const native = { libraries: "", embeddedModel: MODEL, embeddedImages: { model: "", textEncoder: "", taesd: "" } };

function open(modelsDir: string) {
  const log = new RecordingLog();
  const config = { ...testConfig, modelsDir, pulledModels: true };
  const models = pulledModels({ config, launch: { ...testLaunch(), log }, native }, new Map(), {});
  if (!models) throw new Error("the option is set");
  const offered = () => models.models().map(({ id, capabilities: [first] }) => [id, first]);
  return { models, offered, warnings: () => log.lines.filter(({ level }) => level === "warn") };
}

/** Writes a model file that consists of a header. */
function made(plan: GgufPlan): string {
  const path = join(temporaryFolder(), "made.gguf");
  writeFileSync(path, ggufBytes(plan));
  return path;
}

const ofArchitecture = (name: string) => ({
  ...Object.fromEntries(Object.entries(llama).map(([key, value]) => [key.replace("llama.", `${name}.`), value])),
  "general.architecture": { string: name },
});

test("models are offered for what they were made for, in the order of their download; other kinds are not", async () => {
  const folder = temporaryFolder();
  const at = (day: number) => `2026-01-0${day}T00:00:00.000Z`;
  await storeModel(folder, "a/late:F16", made({}), at(2));
  await storeModel(folder, "b/early:F16", MODEL, at(1));
  await storeModel(folder, "c/bert:F16", made({ metadata: ofArchitecture("bert") }), at(3));
  const pooling = (type: number) => ({ ...llama, "llama.pooling_type": { u32: type } });
  await storeModel(folder, "d/pools:F16", made({ metadata: pooling(3) }), at(4));
  const ranks = { metadata: pooling(4), tensors: [{ name: "cls.output.weight", elements: 64n }] };
  await storeModel(folder, "e/ranks:F16", made(ranks), at(5));
  const store = new ModelStore(folder);
  const other = (name: string, path: string, part?: "vae") => {
    writeFileSync(store.path(path), "other");
    const files = [{ path, bytes: 5, sha256: "0", ...(part && { part }) }];
    return store.save({ name, url: "", files, pulled: at(1) });
  };
  await other("ggerganov/whisper.cpp:ggml-base", "hub/ggml-base.bin");
  await other("kokoro", "hub/kokoro.onnx");
  await other("tessdata:deu", "hub/deu.traineddata");
  await other("image-set", "hub/vae.gguf", "vae");
  const { offered, models, warnings } = open(folder);
  expect(offered()).toEqual([
    ["b/early:F16", "chat"],
    ["a/late:F16", "chat"],
    ["c/bert:F16", "embeddings"],
    ["d/pools:F16", "embeddings"],
    ["e/ranks:F16", "rerank"],
  ]);
  expect(warnings()).toEqual([]);
  expect(models.find("b/early:F16")).toBe(models.find("b/early:F16"));
  expect(models.engines().map(({ model }) => model)).toEqual(models.models().map(({ id }) => id));
});

test("files that are damaged, unreadable, incomplete or no model are left out, and logged once until they change", async () => {
  const folder = temporaryFolder();
  const store = new ModelStore(folder);
  const truncated = join(temporaryFolder(), "truncated.gguf");
  await Bun.write(truncated, Bun.file(MODEL));
  truncateSync(truncated, 100_000);
  await storeModel(folder, "a/damaged:Q8_0", truncated);
  await storeModel(folder, "b/good:Q8_0", MODEL);
  await storeModel(folder, "c/projector:F16", made({ metadata: { "general.architecture": { string: "clip" } } }));
  const { pulled: _, ...begun } = await storeModel(folder, "d/begun:Q8_0", MODEL);
  await store.save(begun);
  await storeModel(folder, "svc-system", MODEL);
  const { offered, models, warnings } = open(folder);
  for (let times = 0; times < 3; times++) {
    expect(offered()).toEqual([["b/good:Q8_0", "chat"]]);
    for (const name of ["a/damaged:Q8_0", "damaged", "c/projector:F16", "d/begun:Q8_0", "svc-system", "../x", ""])
      expect([models.find(name), models.fullName(name)]).toEqual([undefined, undefined]);
  }
  expect(warnings().map(({ fields }) => fields)).toEqual([
    { model: "a/damaged:Q8_0", why: expect.stringContaining("is incomplete") },
    { model: "c/projector:F16", why: expect.stringContaining("is the vision or audio part") },
  ]);
  // The same name, with a good file.
  await storeModel(folder, "a/damaged:Q8_0", MODEL);
  expect(offered()).toHaveLength(2);
  // Of the same length, so that only its time tells.
  writeFileSync(store.path("hub/b/good/Q8_0.gguf"), new Uint8Array(Bun.file(MODEL).size));
  expect(offered()).toEqual([["a/damaged:Q8_0", "chat"]]);
  expect(warnings()).toHaveLength(3);
});

test.skipIf(process.getuid?.() === 0)("so is a file without permission", async () => {
  const folder = temporaryFolder();
  await storeModel(folder, "a/secret:Q8_0", MODEL);
  chmodSync(join(folder, "hub/a/secret/Q8_0.gguf"), 0);
  const { offered, warnings } = open(folder);
  expect([offered(), offered()]).toEqual([[], []]);
  expect(warnings()).toMatchObject([{ fields: { model: "a/secret:Q8_0" } }]);
});

test("a folder that is missing offers nothing, and one that cannot be read is logged once, until it can", async () => {
  const folder = join(temporaryFolder(), "models");
  const { offered, models, warnings } = open(folder);
  expect([offered(), models.find("a/b"), models.engines(), warnings()]).toEqual([[], undefined, [], []]);
  mkdirSync(folder);
  symlinkSync("manifests", join(folder, "manifests"));
  expect([offered(), models.fullName("a/b"), offered()]).toEqual([[], undefined, []]);
  expect(warnings()).toMatchObject([{ message: expect.stringContaining("cannot be read: ELOOP") }]);
  rmSync(join(folder, "manifests"));
  await storeModel(folder, "a/b:Q8_0", MODEL);
  expect(offered()).toEqual([["a/b:Q8_0", "chat"]]);
});

test("a context that the machine cannot hold leaves a model out, as a damaged file does", async () => {
  const folder = temporaryFolder();
  await storeModel(folder, "a/wide:F16", made({ metadata: { ...llama, "llama.embedding_length": { u32: 2 ** 20 } } }));
  const log = new RecordingLog();
  const config = { ...testConfig, modelsDir: folder, pulledModels: true, ctx: 16_777_216 };
  const models = pulledModels({ config, launch: { ...testLaunch(), log }, native }, new Map(), {});
  expect([models?.models(), models?.models()]).toEqual([[], []]);
  expect(log.lines).toMatchObject([
    { level: "warn", fields: { why: expect.stringContaining("--ctx 16777216 needs") } },
  ]);
});
