// Files of image models, before any process is started for them.

import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nativeFiles } from "../../ffi/runtime/native-files.ts";
import { ModelFileError } from "../../src/model/gguf.ts";
import { sharedFolder } from "../support/folders.ts";
import { ggufBytes } from "../support/gguf-bytes.ts";
import { readDrawingFile, readImageFile } from "../../src/model/image-file.ts";

const folder = sharedFolder();

const { model, textEncoder } = nativeFiles("").embeddedImages;

function file(name: string, content: Uint8Array | string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

test("a file of each format is recognized, and named without its extension", () => {
  expect(readImageFile(model)).toMatchObject({ id: "svc-draw-dit", bytes: 3_722_224 });
  expect(readImageFile(textEncoder)).toMatchObject({ id: "svc-draw-llm", bytes: 5_839_392 });
  expect(readImageFile(file("v1.5.ckpt", "PK\x03\x04 and the rest"))).toMatchObject({ id: "v1.5" });
});

test("a language model draws nothing, but may read an image model's prompts", () => {
  const llm = join(import.meta.dir, "../../vendor/svc-mini/svc-mini-q8_0.gguf");
  expect(() => readDrawingFile(llm)).toThrow("svc-mini-q8_0.gguf is a model for text (qwen3), which makes no images.");
  expect(readImageFile(llm)).toMatchObject({ id: "svc-mini-q8_0" });
  const flux = file("flux.gguf", ggufBytes({ metadata: { "general.architecture": { string: "flux" } } }));
  expect(readDrawingFile(flux)).toMatchObject({ id: "flux" });
});

test("other files and incomplete ones are refused with a message", () => {
  const refused = (path: string) => {
    try {
      return readImageFile(path);
    } catch (error) {
      return error instanceof ModelFileError ? error.message : error;
    }
  };
  const whole = readFileSync(model);
  expect(refused(file("cut.safetensors", whole.subarray(0, -1)))).toBe(
    "cut.safetensors is incomplete: it has 3722223 of 3722224 bytes.",
  );
  expect(refused(file("text.safetensors", "this is a text, and not a short one"))).toContain("is not an image model");
  expect(refused(file("empty.safetensors", ""))).toContain("is not an image model");
  const damaged = Buffer.from(whole);
  damaged.fill(255, 8, 100);
  expect(refused(file("damaged.safetensors", damaged))).toContain("is not an image model");
  expect(refused(join(folder, "nowhere"))).toContain("cannot be read: there is no such file or folder");
  expect(refused(folder)).toContain("cannot be read");
});
