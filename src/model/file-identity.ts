// Identifies the model in a file, so that stored results of the model can be matched to it.

import { closeSync, openSync, readSync } from "node:fs";
import type { FileIdentity } from "../domain/file-identity.ts";
import { readGguf } from "./gguf.ts";

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
  const file = openSync(path, "r");
  try {
    const header = readAt(file, 0, headerBytes);
    hash.update(`${headerBytes} ${fileBytes}\n`).update(header);
    const stride = Math.floor((fileBytes - headerBytes) / SAMPLES);
    for (let i = 0; i < SAMPLES; i++)
      hash.update(readAt(file, headerBytes + i * stride, Math.min(stride, SAMPLE_BYTES)));
    return header.includes(LONG_ROPE);
  } finally {
    closeSync(file);
  }
}

function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let done = 0;
  for (let got = 1; done < length && got > 0; done += got)
    got = readSync(file, bytes, done, length - done, position + done);
  return bytes;
}
