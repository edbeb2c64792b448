import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ModelFileError } from "../../src/model/gguf.ts";
import { readWhisperFile } from "../../src/model/whisper-file.ts";
import { sharedFolder } from "../support/folders.ts";

const folder = sharedFolder();

/** Reads a file that consists of its header alone. */
function head(numbers: readonly number[], name = "ggml-some.bin") {
  const path = join(folder, name);
  writeFileSync(path, Buffer.concat([Buffer.from("lmgg"), new Uint8Array(Int32Array.from(numbers).buffer)]));
  return readWhisperFile(path);
}

describe("a model of whisper.cpp", () => {
  // With the names under which their authors publish them.
  test.each([
    ["base", true, [51865, 1500, 512, 8, 6, 448, 512, 8, 6, 80, 1]],
    ["large-v3", true, [51866, 1500, 1280, 20, 32, 448, 1280, 20, 32, 128, 1]],
    ["large-v3-turbo", false, [51866, 1500, 1280, 20, 32, 448, 1280, 20, 4, 128, 1]],
    ["distil-large-v3", false, [51866, 1500, 1280, 20, 32, 448, 1280, 20, 2, 128, 1]],
    ["large-32-2.en", false, [51865, 1500, 1280, 20, 32, 448, 1280, 20, 2, 80, 1]],
    ["bilingual", true, [51866, 1500, 1280, 20, 32, 448, 1280, 20, 2, 128, 1]],
    ["base.en", false, [51864, 1500, 512, 8, 6, 448, 512, 8, 6, 80, 1]],
  ])("%s can translate: %p", (name, translates, numbers) => {
    expect(head(numbers, `ggml-${name}.bin`)).toMatchObject({ id: `whisper-${name}`, translates });
  });

  test("reports the memory of a recording in addition to its weights", () => {
    const megabytes = (numbers: readonly number[]) => Math.round(head(numbers).stateBytes / 1e6);
    // Measured: 134 MB.
    expect(megabytes([51865, 1500, 512, 8, 6, 448, 512, 8, 6, 80, 1])).toBeWithin(120, 145);
    expect(megabytes([51866, 1500, 1280, 20, 32, 448, 1280, 20, 32, 128, 1])).toBeWithin(950, 1200);
  });

  test("that ends within its header is refused", () => {
    expect(() => head([51865, 1500])).toThrow(
      new ModelFileError("ggml-some.bin is cut off: it ends in its first bytes."),
    );
  });
});
