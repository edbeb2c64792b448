// The same as corrupt-files.test.ts with other damages.

import { setDefaultTimeout } from "bun:test";
import { damageTests, set } from "./damage-tests.ts";

setDefaultTimeout(120_000);

damageTests({
  "a model cut off in its header": ["model", (bytes) => bytes.subarray(0, 1000)],
  "a model with a layer too many": ["model", set("qwen3.block_count", 63)],
  "a transcription model cut off in its weights": ["transcription", (bytes) => bytes.subarray(0, -1000)],
  "a transcription model with a layer too many": ["transcription", (bytes) => void bytes.writeUInt32LE(7, 32)],
  "a speech detector cut off": ["vad", (bytes) => bytes.subarray(0, -1000)],
  "a speech detector with layers too many": ["vad", (bytes) => void bytes.writeUInt32LE(2 ** 20, 36)],
  // The names of its tensors.
  "an image model of nothing that draws": ["image model", (bytes) => void bytes.fill("x", 200, 20_000)],
  // Of a list of sizes: it is read, and cannot be computed.
  "a voice whose sizes do not fit": ["voice", (bytes) => void (bytes[3355] = 0x80)],
  "a voice's tables that are no JSON": ["tables of speech", (bytes) => void bytes.write("}", 0)],
  "a voice without half of what it needs for unknown words": ["unknown words", (bytes) => bytes.subarray(0, 100_000)],
});
