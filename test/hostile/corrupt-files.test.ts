// Of the damages that once did harm, one of each kind of file, to the real program. `corrupt-files.long.test.ts` has the others;
// `npm run test:hostile` tries hundreds.

import { setDefaultTimeout } from "bun:test";
import { damageTests, set } from "./damage-tests.ts";

setDefaultTimeout(120_000);

damageTests({
  "a model with 2^63 tensors": ["model", (bytes) => void bytes.writeBigUInt64LE(2n ** 63n, 8)],
  "a draft model with another token": ["draft", (bytes) => void (bytes[bytes.indexOf("Once") + 1] = 0x4e)],
  "an adapter with half a pair": ["adapter", (bytes) => void (bytes[bytes.indexOf("lora_b") + 5] = 0x63)],
  "vectors pooled in no way there is": ["embeddings", set("bert.pooling_type", 2 ** 32 - 1)],
  "a projector cut off in its weights": ["projector", (bytes) => bytes.subarray(0, -1000)],
  "a transcription model of 2^31 words": ["transcription", (bytes) => void bytes.writeUInt32LE(2 ** 31, 4)],
  "an image model cut off": ["image model", (bytes) => bytes.subarray(0, -1000)],
  "language data cut off": ["language data", (bytes) => bytes.subarray(0, 1000)],
  "a voice cut off": ["voice", (bytes) => bytes.subarray(0, -1000)],
});
