// Reads safetensors files: a JSON header that says where each tensor lies, then the numbers.

import { readFileSync } from "node:fs";
import { BuildError } from "./run.ts";

export interface Weights {
  /** Returns a tensor's numbers, row after row, and its size, the slowest dimension first. Throws BuildError. */
  get(name: string): { readonly values: Float32Array; readonly shape: readonly number[] };
}

interface Entry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [start: number, end: number];
}

/** Opens the file at `path`, whose tensors are single-precision numbers. */
export function readSafetensors(path: string): Weights {
  const file = readFileSync(path);
  const headerBytes = Number(file.readBigUInt64LE(0));
  const start = 8 + headerBytes;
  const header = JSON.parse(file.toString("utf8", 8, start)) as Record<string, Entry>;
  return {
    get(name) {
      const entry = header[name];
      if (entry?.dtype !== "F32") throw new BuildError(`${path} has no tensor ${name} of single-precision numbers.`);
      const [from, to] = entry.data_offsets;
      // A copy, because its address is aligned for numbers.
      const bytes = new Uint8Array(file.subarray(start + from, start + to));
      return { values: new Float32Array(bytes.buffer), shape: entry.shape };
    },
  };
}
