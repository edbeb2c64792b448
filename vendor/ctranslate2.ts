// Reads models of CTranslate2: a name and a number of tensors, each with its own name, size and numbers, one after another.

import { BuildError } from "./run.ts";

export interface HalfTensor {
  /** The slowest dimension first. */
  readonly shape: readonly number[];
  readonly values: Float16Array;
}

const VERSION = 6;
const HALF = 4;

/** Returns a file's tensors by name. Throws BuildError about another version, or other than half-precision numbers. */
export function readCtranslate2(file: Buffer): ReadonlyMap<string, HalfTensor> {
  let at = 0;
  const take = (length: number): Buffer => file.subarray(at, (at += length));
  const u8 = () => take(1).readUInt8();
  const u32 = () => take(4).readUInt32LE();
  // The length includes the terminating zero.
  const text = () => take(take(2).readUInt16LE()).toString("utf8").slice(0, -1);

  const version = u32();
  if (version !== VERSION) throw new BuildError(`A model of CTranslate2 has version ${version}, not ${VERSION}.`);
  const kind = text();
  u32(); // the kind's revision
  const tensors = new Map<string, HalfTensor>();
  for (let left = u32(); left > 0; left--) {
    const name = text();
    const shape = Array.from({ length: u8() }, u32);
    const type = u8();
    // A copy, because its address is aligned for numbers.
    const bytes = new Uint8Array(take(u32()));
    if (type === HALF) tensors.set(name, { shape, values: new Float16Array(bytes.buffer) });
    else if (shape.length > 0) throw new BuildError(`${name} of ${kind} has no half-precision numbers.`);
  }
  return tensors;
}
