// Which models a server uses, by its options.

import { expect, test } from "bun:test";
import { readConfig } from "../../src/config/read-config.ts";
import { options } from "../../src/config/options.ts";
import { filesInUse, givenPaths, holdModels } from "../../src/cli/named-model.ts";
import { ModelStore } from "../../src/store/models/model-store.ts";
import { temporaryFolder } from "../support/folders.ts";

const NAME = "maker/Mini-GGUF:Q8_0";
const FILE = "hub/maker/Mini-GGUF/mini-Q8_0.gguf";

/** Returns a configuration in which one option has this value. */
const configured = (option: string, value: string, modelsDir = "/nonexistent") => {
  const isList = options.find(({ name }) => name === option)?.type === "list";
  const flags = new Map<string, string | string[]>([["models-dir", modelsDir]]);
  return readConfig(flags.set(option, isList ? [value] : value), { HOME: "/nonexistent" }, "/");
};

// A template's name is not that of a model.
const byName = options.filter(({ name, orName }) => orName && name !== "chat-template").map(({ name }) => name);
const adapters = options.filter(({ paths }) => paths === "adapters").map(({ name }) => name);

test("the table has options that name models, and options of adapters", () => {
  expect(byName).toContain("model");
  expect(adapters).toContain("lora");
});

test.each(byName)("the model that --%s names is not removed while a server may use it", async (option) => {
  const store = new ModelStore(temporaryFolder());
  await Bun.write(store.path(FILE), "model");
  const model = { name: NAME, url: "", files: [{ path: FILE }] };
  await store.save(model);
  const config = configured(option, NAME, store.folder);
  expect(filesInUse(config)).toEqual([store.path(FILE)]);
  const release = await holdModels(config);
  await expect(store.remove(model)).rejects.toThrow("is being served");
  release();
  expect(await store.remove(model)).toBe(5);
});

test.each([...byName, ...adapters, "mmproj"])("a missing file of --%s is noticed before any download", (option) => {
  const value = adapters.includes(option) ? "name=/missing.gguf" : "/missing.gguf";
  expect(givenPaths(configured(option, value))).toEqual(["/missing.gguf"]);
});

test("without a model of its own, a server uses no file of that model", () => {
  const config = { ...configured("draft", "/draft.gguf"), serveModel: false, mmproj: "/mmproj.gguf" };
  expect(givenPaths(config)).toEqual([]);
});
