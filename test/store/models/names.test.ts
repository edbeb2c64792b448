import { describe, expect, test } from "bun:test";
import { chooseFiles } from "../../../src/store/models/choose-files.ts";
import { partOf, quantOf, stemOf } from "../../../src/store/models/gguf-names.ts";
import { parseReference } from "../../../src/store/models/reference.ts";

const HUB = "https://huggingface.co";

describe("references", () => {
  test.each([
    ["maker/Model-GGUF", { repo: "maker/Model-GGUF", revision: "main" }],
    ["maker/Model-GGUF:Q4_K_M", { repo: "maker/Model-GGUF", revision: "main", wanted: "Q4_K_M" }],
    ["hf.co/maker/Model:q8_0", { repo: "maker/Model", revision: "main", wanted: "q8_0" }],
    ["hfl/llama-3-GGUF", { repo: "hfl/llama-3-GGUF", revision: "main" }],
    ["hf-maker/Model", { repo: "hf-maker/Model", revision: "main" }],
    ["hf://maker/Model", { repo: "maker/Model", revision: "main" }],
    [`${HUB}/maker/Model`, { repo: "maker/Model", revision: "main" }],
    [`${HUB}/maker/Model/tree/v2`, { repo: "maker/Model", revision: "v2" }],
    [`${HUB}/maker/M/resolve/v2/a/b%20c.gguf?download=true`, { repo: "maker/M", revision: "v2", wanted: "a/b c.gguf" }],
    ["maker/M/a/b.gguf", { repo: "maker/M", revision: "main", wanted: "a/b.gguf" }],
    ["whisper:base", { repo: "ggerganov/whisper.cpp", revision: "main", wanted: "ggml-base" }],
    [
      "Whisper:large-v3-turbo-q5_0",
      { repo: "ggerganov/whisper.cpp", revision: "main", wanted: "ggml-large-v3-turbo-q5_0" },
    ],
    ["a/whisper.cpp/ggml-x.bin", { repo: "a/whisper.cpp", revision: "main", wanted: "ggml-x.bin" }],
    ["https://hf.co/maker/M/blob/main/b.gguf", { repo: "maker/M", revision: "main", wanted: "b.gguf" }],
  ])("%s", (text, expected) => expect(parseReference(text, HUB)).toEqual({ kind: "hub", ...expected }));

  test("other URLs refer to single files", () => {
    expect(parseReference("https://example.org/a/b/resolve/main/c.gguf", HUB)).toMatchObject({ kind: "url" });
    expect(parseReference("https://mirror.org/a/b", "https://mirror.org")).toMatchObject({ kind: "hub", repo: "a/b" });
  });

  test("a short name without a size gets an error that lists the sizes", () => {
    for (const name of ["whisper", "whisper:"]) {
      expect(() => parseReference(name, HUB)).toThrow(
        /name one\.\n  whisper:tiny +78 MB\n[^]*large-v3-turbo-q5_0 +574 MB/,
      );
    }
  });

  test.each([
    "",
    "model",
    "a/b/c",
    "../b",
    "a/..",
    "a/b:",
    ".git/b",
    "a/b..c",
    "a b/c",
    "/a/b",
    "https://",
    "https://u:p@x.org/a.gguf",
  ])("%j is refused", (text) => expect(() => parseReference(text, HUB)).toThrow());
});

describe("names of files", () => {
  test.each([
    ["Llama-3-8B-Instruct-Q4_K_M.gguf", "Q4_K_M"],
    ["llama-3-8b.q4_k_m.gguf", "Q4_K_M"],
    ["m-UD-Q4_K_XL-00001-of-00003.gguf", "UD-Q4_K_XL"],
    ["m-IQ2_XXS.gguf", "IQ2_XXS"],
    ["m-Q8_0-imat.gguf", "Q8_0"],
    ["m-bf16.gguf", "BF16"],
    ["m-fp16.gguf", "F16"],
    ["gpt-oss-MXFP4_MOE.gguf", "MXFP4_MOE"],
    ["Q6_K/model-00001-of-00002.gguf", "Q6_K"],
    ["model.gguf", undefined],
    ["Qwen3-0.6B.gguf", undefined],
  ])("%s is %p", (path, quant) => expect(quantOf(path)).toBe(quant));

  test("parts of one model share a stem", () => {
    expect(stemOf("a/m-00002-of-00003.gguf")).toBe("a/m");
    expect(partOf("a/m-00002-of-00003.gguf")).toEqual({ part: 2, parts: 3 });
    expect(partOf("m.gguf")).toEqual({ part: 1, parts: 1 });
  });
});

describe("the choice among files", () => {
  const choose = (paths: readonly string[], wanted?: string) => {
    const files = paths.map((path) => ({ path, url: "", subject: "a/b", bytes: 1 }));
    const { tag, files: chosen, projector } = chooseFiles(files, wanted, "a/b");
    return { tag, files: chosen.map(({ path }) => path), projector: projector?.path };
  };
  const many = ["m-F16.gguf", "m-Q2_K.gguf", "m-Q4_K_M.gguf", "m-Q8_0.gguf", "README.md"];

  test("is Q4_K_M by default, otherwise the first in the order of preference, otherwise by name", () => {
    expect(choose(many).files).toEqual(["m-Q4_K_M.gguf"]);
    expect(choose(["m-F16.gguf", "m-Q8_0.gguf", "m-Q2_K.gguf"]).tag).toBe("Q8_0");
    expect(choose(["z-Q2_K.gguf", "m-Q3_K.gguf"]).tag).toBe("Q3_K");
    expect(choose(["plain.gguf"])).toEqual({ tag: "plain", files: ["plain.gguf"], projector: undefined });
  });

  test("can be by quantization, by file, by one of its parts, and without UD-", () => {
    expect(choose(many, "q8_0").tag).toBe("Q8_0");
    expect(choose(many, "m-q2_k.gguf").tag).toBe("Q2_K");
    const parts = ["x/m-Q5_K_M-00001-of-00002.gguf", "x/m-Q5_K_M-00002-of-00002.gguf"];
    expect(choose(parts, "x/m-Q5_K_M-00002-of-00002.gguf").files).toEqual(parts);
    expect(choose(["m-UD-Q4_K_XL.gguf"], "Q4_K_XL").tag).toBe("UD-Q4_K_XL");
  });

  test("is by file name among several models of one quantization", () => {
    const two = ["small-Q8_0.gguf", "x/large-Q8_0.gguf"];
    expect(() => choose(two, "Q8_0")).toThrow(/several models[^]*small-Q8_0[^]*x_large-Q8_0/);
    expect(choose(two, "x_large-Q8_0").files).toEqual(["x/large-Q8_0.gguf"]);
    expect(choose(two, "x/large-Q8_0.gguf").tag).toBe("x_large-Q8_0");
  });

  test("is by name alone among Whisper's models, which are different models", () => {
    const whispers = ["ggml-base.bin", "ggml-base-q5_1.bin", "ggml-base-encoder.mlmodelc.zip", "README.md"];
    expect(choose(whispers, "ggml-base-q5_1")).toMatchObject({ tag: "ggml-base-q5_1", files: ["ggml-base-q5_1.bin"] });
    expect(choose(whispers, "ggml-base.bin").tag).toBe("ggml-base");
    expect(() => choose(whispers)).toThrow(/several models: name one\.\n  ggml-base[^]*ggml-base-q5_1/);
    expect(choose(["x/ggml-tiny.bin"]).tag).toBe("x_ggml-tiny");
    // Other files with such names have an older format.
    expect(choose(["ggml-model-q4_0.bin", "m-Q2_K.gguf"]).tag).toBe("Q2_K");
  });

  test("excludes projectors and importance matrices, and reports missing parts", () => {
    expect(() => choose(["mmproj-F16.gguf", "imatrix.gguf"])).toThrow("no GGUF file of a model");
    expect(() => choose(["m-Q8_0-00001-of-00002.gguf"])).toThrow("1 of the 2 files");
    expect(choose(["m-Q8_0.gguf", "mmproj-model-f32.gguf", "mmproj-model-bf16.gguf", "mmproj-x.gguf"]).projector).toBe(
      "mmproj-model-bf16.gguf",
    );
  });
});
