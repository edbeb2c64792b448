// Identifies the model in a file, so that stored results of the model can be matched to it.

import type { FileIdentity } from "../domain/file-identity.ts";
import { readGguf } from "./gguf.ts";
import { readPart } from "./read-model.ts";

/** Different trainings of a model may have the same header: samples of the weights distinguish them. */
const SAMPLES = 64;
const SAMPLE_BYTES = 4096;
/** A tensor that only models with two sets of RoPE factors have. */
const LONG_ROPE = "rope_factors_long";

/** Returns the identity of a model in one or more files. Takes tens of milliseconds. Throws ModelFileError. */
export function fileIdentity(paths: readonly string[]): FileIdentity {
  const hash = new Bun.CryptoHasher("sha256");
  const ropeByContext = paths.map((path) => addFile(hash, path)).includes(true);
  return { hash: hash.digest("hex"), ropeByContext };
}

function addFile(hash: Bun.CryptoHasher, path: string): boolean {
  const { headerBytes, fileBytes } = readGguf(path);
  const header = readPart(path, headerBytes);
  hash.update(`${headerBytes} ${fileBytes}\n`).update(header);
  const stride = Math.floor((fileBytes - headerBytes) / SAMPLES);
  for (let i = 0; i < SAMPLES; i++)
    hash.update(readPart(path, Math.min(stride, SAMPLE_BYTES), headerBytes + i * stride));
  return header.includes(LONG_ROPE);
}
