import { expect, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { fileIdentity } from "../../src/model/file-identity.ts";
import { ModelFileError } from "../../src/model/gguf.ts";
import { writeGguf } from "../../vendor/gguf-writer.ts";
import { matrix, ones, seeded } from "../models/tensors.ts";
import { sharedFolder } from "../support/folders.ts";

const folder = sharedFolder();

function model(name: string, seed: number, { tensor = "a.weight", rows = 300 } = {}): string {
  const path = join(folder, name);
  const metadata = { "general.architecture": { type: "string", value: "llama" } } as const;
  writeGguf(path, metadata, [matrix(tensor, 64, rows, seeded(seed)), ones("b.weight", 64)]);
  return path;
}

test("a copy of a model has the same identity, wherever it is", () => {
  const path = model("one.gguf", 1);
  copyFileSync(path, join(folder, "copy.gguf"));
  expect(fileIdentity([join(folder, "copy.gguf")])).toEqual(fileIdentity([path]));
});

test("other weights after the same header, other tensors and other parts give another identity", () => {
  const one = model("one.gguf", 1);
  const two = model("two.gguf", 2);
  const sets = [[one], [two], [model("rows.gguf", 1, { rows: 301 })], [model("name.gguf", 1, { tensor: "c.weight" })]];
  const hashes = [...sets, [one, two], [two, one]].map((paths) => fileIdentity(paths).hash);
  expect(new Set(hashes).size).toBe(hashes.length);
});

test("a model whose rope depends on the context size is recognized by its tensors", () => {
  expect(fileIdentity([model("one.gguf", 1)]).ropeByContext).toBe(false);
  const long = model("long.gguf", 1, { tensor: "rope_factors_long.weight" });
  expect(fileIdentity([model("one.gguf", 1), long]).ropeByContext).toBe(true);
});

test("a file that is not a model is refused", () => {
  expect(() => fileIdentity([import.meta.path])).toThrow(ModelFileError);
});
