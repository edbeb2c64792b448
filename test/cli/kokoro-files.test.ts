// Where svc looks for Kokoro.

import { beforeEach, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findKokoro } from "../../src/cli/pulled-files.ts";
import { ModelStore } from "../../src/store/models/model-store.ts";
import { temporaryFolder } from "../support/folders.ts";

let folder: string;
beforeEach(() => void (folder = temporaryFolder()));

function write(path: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "x");
  return file;
}

const named = () => {
  try {
    return findKokoro({ kokoro: folder, modelsDir: "/nowhere" });
  } catch (error) {
    return (error as Error).message;
  }
};

test("a folder given by an option has one model, directly or in onnx, and voices", () => {
  expect(named()).toContain("has no ONNX file");
  const model = write("onnx/model_quantized.onnx");
  expect(named()).toContain("has no folder voices");
  write("voices/af_heart.bin");
  expect(named()).toEqual({ model, voices: join(folder, "voices") });
  write("kokoro.onnx");
  expect(named()).toContain("has several ONNX files");
});

test("otherwise the downloaded model is used, once it is complete", async () => {
  const store = new ModelStore(folder);
  const find = () => findKokoro({ modelsDir: folder });
  expect(find()).toBeUndefined();
  const files = ["hub/a/b/onnx/model.onnx", "hub/a/b/voices/af_heart.bin"].map((path) => ({
    path,
    bytes: 1,
    sha256: "0",
  }));
  const model = write("hub/a/b/onnx/model.onnx");
  await store.save({ name: "kokoro", url: "https://hub/a/b", files, pulled: "2026-01-01T00:00:00Z" });
  expect(find()).toBeUndefined();
  write("hub/a/b/voices/af_heart.bin");
  expect(find()).toEqual({ model, voices: join(folder, "hub/a/b/voices") });
});
