// The phonemizer with the data of src/speech. ONNX Runtime computes its net for unknown words.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Tensor } from "onnxruntime-web/wasm";
import { errorMessage } from "../../../domain/error-message.ts";
import { Phonemizer } from "../../../speech/phonemizer.ts";
import type { Guess } from "../../../speech/unknown-words.ts";
import { loadOnnx } from "../../process/onnx-session.ts";

const NET = "unknown-words.onnx";
/** Any letters. */
const A_WORD = [1, 2, 3];

/** Reads the files in `folder`. Throws when one of them is not valid. */
export async function loadPhonemizer(folder: string): Promise<Phonemizer> {
  const read = (name: string) => readFileSync(join(folder, name));
  const guess = await loadNet(read(NET)).catch((error: unknown) => {
    throw new Error(`${NET} cannot be used: ${errorMessage(error)}`);
  });
  return new Phonemizer(read, guess);
}

async function loadNet(file: Uint8Array): Promise<Guess> {
  const net = await loadOnnx(file);
  const guess: Guess = async (letters) => {
    const chars = new Tensor("int64", BigInt64Array.from(letters, BigInt), [1, letters.length]);
    const { ids } = await net.run({ chars });
    return Array.from(ids?.data as BigInt64Array, Number);
  };
  // A damaged file may load and yet compute nothing: better to fail now than for each request with such a word.
  await guess(A_WORD);
  return guess;
}
