import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ModelFileError } from "../../src/model/gguf.ts";
import { readWhisperFile } from "../../src/model/whisper-file.ts";
import { BASE, whisperFile } from "../models/whisper-file.ts";
import { sharedFolder } from "../support/folders.ts";

const folder = sharedFolder();

function read(file: Uint8Array, name = "ggml-some.bin") {
  const path = join(folder, name);
  writeFileSync(path, file);
  return readWhisperFile(path);
}

const head = (numbers: readonly number[], name?: string) => read(whisperFile(numbers), name);

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
    expect(() => read(whisperFile().subarray(0, 12))).toThrow(
      new ModelFileError("ggml-some.bin is cut off: it ends in its first bytes."),
    );
  });

  const whole = whisperFile();
  const refused = (size: number) =>
    new ModelFileError(`ggml-some.bin is incomplete or corrupt (${size} bytes in all); get the file again.`);

  test.each([50, 60, 85, 90, 100, 200, whole.length - 1])("that ends after %d bytes is refused", (size) => {
    expect(() => read(whole.subarray(0, size))).toThrow(refused(size));
  });

  test("of which a part was never written is refused", () => {
    expect(() => read(Buffer.concat([whole, Buffer.alloc(64)]))).toThrow(refused(whole.length + 64));
    expect(() => read(whisperFile(BASE).fill(255, 80, 84))).toThrow(refused(whole.length));
  });
});
