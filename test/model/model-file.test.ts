import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ModelFileError } from "../../src/model/gguf.ts";
import { readModelFile } from "../../src/model/model-file.ts";
import { sharedFolder } from "../support/folders.ts";
import { ggufBytes, llama, type GgufPlan } from "../support/gguf-bytes.ts";

const mini = join(import.meta.dir, "../../vendor/svc-mini/svc-mini-q8_0.gguf");
const folder = sharedFolder();

function write(name: string, content: Uint8Array | string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** Returns the message with which the file is refused. */
function refusal(path: string): string {
  try {
    readModelFile(path);
  } catch (error) {
    if (error instanceof ModelFileError) return error.message;
    throw error;
  }
  throw new Error("the file was accepted");
}

const refused = (plan: GgufPlan, name = "x.gguf") => refusal(write(name, ggufBytes(plan)));
const withMetadata = (metadata: GgufPlan["metadata"]): GgufPlan => ({ metadata: { ...llama, ...metadata } });

describe("a model that can be served", () => {
  test("is described by its header", () => {
    expect(readModelFile(mini)).toMatchObject({
      id: "svc-mini-q8_0",
      architecture: "qwen3",
      name: "svc-mini",
      trainedContext: 4096,
      kvHeads: [2, 2, 2, 2, 2, 2],
      keyLength: 64,
      valueLength: 64,
      vocabulary: 2560,
      fileBytes: 4_554_912,
      tensorBytes: 4_472_832,
    });
  });

  test("may be of GGUF version 2 and may list heads layer by layer", () => {
    const metadata = { "llama.attention.head_count_kv": { i32s: [2, 0] } };
    const path = write("v2.gguf", ggufBytes({ version: 2, ...withMetadata(metadata) }));
    expect(readModelFile(path)).toMatchObject({ kvHeads: [2, 0], keyLength: 16, vocabulary: 3, trainedContext: 2048 });
  });

  test("may have a vocabulary of any size, which is not read into memory", () => {
    const strings = Array.from({ length: 200_000 }, (_, index) => `token ${index}`);
    const path = write("large.gguf", ggufBytes(withMetadata({ "tokenizer.ggml.tokens": { strings } })));
    expect(readModelFile(path).vocabulary).toBe(200_000);
  });

  test("may consist of several files, which are counted together", () => {
    const part = (no: number) => withMetadata({ "split.count": { u32: 2 }, "split.no": { u32: no } });
    const first = write("two-00001-of-00002.gguf", ggufBytes(part(0)));
    write("two-00002-of-00002.gguf", ggufBytes(part(1)));
    expect(readModelFile(first)).toMatchObject({ id: "two", tensorBytes: 512 });
  });
});

describe("a file that is not a model is refused with a message", () => {
  test("when it is missing, a directory, a device, a pipe or empty", () => {
    expect(refusal(join(folder, "none.gguf"))).toBe(`There is no file ${join(folder, "none.gguf")}.`);
    expect(refusal(join(mini, "x.gguf"))).toContain("There is no file");
    mkdirSync(join(folder, "weights"));
    expect(refusal(join(folder, "weights"))).toBe("weights is a folder without a GGUF file.");
    for (const name of ["b.gguf", "a.GGUF", "config.json"]) write(`weights/${name}`, "");
    expect(refusal(join(folder, "weights"))).toBe("weights is a folder; name a file in it: a.GGUF, b.gguf.");
    expect(refusal("/dev/zero")).toContain("is not a regular file");
    execFileSync("mkfifo", [join(folder, "pipe.gguf")]);
    expect(refusal(join(folder, "pipe.gguf"))).toContain("is not a regular file");
    expect(refusal(write("empty.gguf", ""))).toBe("empty.gguf is empty.");
  });

  test.each([
    ["{}", "x is not a GGUF file."],
    ["version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"],
    ["<!DOCTYPE html>", "web page"],
    ["PK\x03\x04....", "PyTorch"],
    ["lmgg....", "whisper.cpp"],
  ])("%j", (content, sentence) => {
    expect(refusal(write("x", content))).toContain(sentence);
  });

  test.each([
    [1, "has GGUF version 1; versions 2 and 3 can be read."],
    [4, "has GGUF version 4; versions 2 and 3 can be read."],
    [0x0300_0000, "big-endian"],
  ])("version %p", (version, sentence) => {
    expect(refused({ version })).toContain(sentence);
  });
});

describe("a file that is not a language model is refused with a message", () => {
  test.each([
    ["clip", "vision or audio part"],
    ["bert", "embedding model"],
    ["whisper", "speech model"],
    ["flux", "image or video model"],
    ["llada", "text diffusion"],
    ["t5", "encoder-decoder"],
    ["eagle3", "draft model"],
    ["brandnew\n\u001b[31m", "architecture 'brandnew??[31m', which this version does not support"],
  ])("architecture %j", (name, sentence) => {
    expect(refused(withMetadata({ "general.architecture": { string: name } }))).toContain(sentence);
  });

  test("when it is an adapter, a vocabulary, or has no tokenizer", () => {
    expect(refused(withMetadata({ "general.type": { string: "adapter" } }))).toContain("adapter (LoRA)");
    expect(refused({ tensors: [] })).toContain("no weights");
    const { "tokenizer.ggml.model": _, ...untokenized } = llama;
    expect(refused({ metadata: untokenized })).toContain("no tokenizer");
  });

  test("when it is one of several parts: missing ones are named, and a later one refers to the first", () => {
    const split = withMetadata({ "split.count": { u32: 3 }, "split.no": { u32: 0 } });
    const missing = refused(split, "m-00001-of-00003.gguf");
    expect(missing).toContain("m-00002-of-00003.gguf, m-00003-of-00003.gguf");
    expect(refused(split, "renamed.gguf")).toContain("-00001-of-00003.gguf");
    const later = withMetadata({ "split.count": { u32: 3 }, "split.no": { u32: 1 } });
    expect(refused(later, "m-00002-of-00003.gguf")).toContain("name the first part");
  });
});

describe("a damaged file", () => {
  test("is refused when it is truncated at any point", () => {
    const whole = readFileSync(mini);
    const lengths = [3, 4, 7, 8, 23, 24, 100, 5000, 60_000, whole.length / 2, whole.length - 1];
    for (const length of lengths) {
      expect(refusal(write("cut.gguf", whole.subarray(0, length)))).toMatch(/incomplete|not a GGUF/);
    }
    expect(refusal(write("cut.gguf", whole.subarray(0, 1_000_000)))).toContain("1000000 of at least 4554912 bytes");
  });

  test("costs no memory when its sizes are impossible", () => {
    for (const elements of [2n ** 60n, 2n ** 64n - 1n, 2n ** 40n]) {
      expect(refused({ tensors: [{ name: "w", elements }], withoutData: true })).toMatch(/impossible|incomplete/);
    }
    const header = ggufBytes();
    for (const at of [8, 16, 24]) {
      const bytes = header.slice();
      new DataView(bytes.buffer).setBigUint64(at, 2n ** 60n, true);
      expect(refusal(write("long.gguf", bytes))).toContain("incomplete or corrupt header");
    }
    expect(refused(withMetadata({ "llama.block_count": { u32: 4_000_000_000 } }))).toContain("4000000000 layers");
    expect(refused(withMetadata({ "llama.embedding_length": { u32: 2 ** 31 } }))).toContain(
      "vectors of 2147483648 numbers",
    );
    expect(refused(withMetadata({ "general.alignment": { u32: 0 } }))).toContain("impossible alignment");
  });

  test("with unknown tensor types or missing entries is refused with their names", () => {
    expect(refused({ tensors: [{ name: "w", elements: 32n, type: 99 }] })).toContain("tensors of type 99");
    const { "llama.context_length": _, ...incomplete } = llama;
    expect(refused({ metadata: incomplete })).toContain("no usable value llama.context_length");
  });

  test("always gives a model or a message, whatever the damage", () => {
    const whole = ggufBytes();
    let state = 1;
    const random = (below: number) => (state = (state * 1103515245 + 12345) & 0x7fffffff) % below;
    const outcomes = { model: 0, refusal: 0 };
    for (let round = 0; round < 1000; round++) {
      const bytes = whole.slice();
      for (let hit = 0; hit <= random(4); hit++) bytes[random(bytes.length)] = random(256);
      const path = write("fuzz.gguf", bytes);
      try {
        readModelFile(path);
        outcomes.model++;
      } catch (error) {
        expect(error).toBeInstanceOf(ModelFileError);
        outcomes.refusal++;
      }
    }
    expect(outcomes.model).toBeGreaterThan(100);
    expect(outcomes.refusal).toBeGreaterThan(100);
  });
});
