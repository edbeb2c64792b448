// The phonemizer with the data of src/speech. ONNX Runtime computes its net for unknown words.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Tensor, type InferenceSession } from "onnxruntime-web/wasm";
import { errorMessage } from "../../../domain/error-message.ts";
import { Phonemizer } from "../../../speech/phonemizer.ts";
import { loadOnnx } from "../../process/onnx-session.ts";

const NET = "unknown-words.onnx";

/** Reads the files in `folder`, and the net when the first unknown word comes. Throws when a file is not valid. */
export function loadPhonemizer(folder: string): Phonemizer {
  const read = (name: string) => readFileSync(join(folder, name));
  let net: Promise<InferenceSession> | undefined;
  return new Phonemizer(read, async (letters) => {
    try {
      net ??= loadOnnx(read(NET));
      const chars = new Tensor("int64", BigInt64Array.from(letters, BigInt), [1, letters.length]);
      const { ids } = await (await net).run({ chars });
      return Array.from(ids?.data as BigInt64Array, Number);
    } catch (error) {
      throw new Error(`${NET} cannot be used: ${errorMessage(error)}`);
    }
  });
}
