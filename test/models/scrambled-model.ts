// A model with the vocabulary and dimensions of another one and meaningless weights.

import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { GgufCursor } from "../../src/model/gguf-cursor.ts";

const STRING = 8;
const ARRAY = 9;
const Q8_0 = 8;
const BLOCK = { elements: 32, bytes: 34, scale: 2 };
const ALIGNMENT = 32;
/** Bytes of a metadata value, by its type. */
const VALUE_BYTES = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];

/** Returns the path of the scrambled copy in `folder`, created when missing. Its bytes are always the same. */
export function scrambledModel(path: string, folder: string): string {
  const target = join(folder, `scrambled-${basename(path)}`);
  if (existsSync(target)) return target;
  mkdirSync(folder, { recursive: true });
  const bytes = readFileSync(path);
  let seed = 0x5eed_5eed;
  for (const { start, blocks } of blockTensors(path, bytes.length)) {
    for (let at = start; at < start + blocks * BLOCK.bytes; at++) {
      seed ^= seed << 13;
      seed ^= seed >>> 17;
      seed ^= seed << 5;
      // Scales are kept, so that sums keep their magnitude through the layers.
      if ((at - start) % BLOCK.bytes >= BLOCK.scale) bytes[at] = seed & 0x7f;
    }
  }
  // Written under another name first, because test files run in parallel.
  writeFileSync(`${target}.${process.pid}`, bytes);
  renameSync(`${target}.${process.pid}`, target);
  return target;
}

/** Returns the positions of the file's quantized tensors. */
function blockTensors(path: string, length: number): { readonly start: number; readonly blocks: number }[] {
  const fd = openSync(path, "r");
  try {
    const cursor = new GgufCursor(fd, length);
    // "GGUF" and the version.
    cursor.skip(8);
    const tensors = cursor.u64();
    const entries = cursor.u64();
    for (let entry = 0; entry < entries; entry++) {
      cursor.string();
      skipValue(cursor, cursor.u32());
    }
    const found = Array.from({ length: tensors }, () => {
      cursor.string();
      const dimensions = Array.from({ length: cursor.u32() }, () => cursor.u64());
      const elements = dimensions.reduce((product, size) => product * size, 1);
      return { type: cursor.u32(), offset: cursor.u64(), blocks: elements / BLOCK.elements };
    });
    const data = Math.ceil(cursor.position / ALIGNMENT) * ALIGNMENT;
    return found.filter(({ type }) => type === Q8_0).map(({ offset, blocks }) => ({ start: data + offset, blocks }));
  } finally {
    closeSync(fd);
  }
}

function skipValue(cursor: GgufCursor, type: number): void {
  if (type === STRING) return cursor.skip(cursor.u64());
  if (type !== ARRAY) return cursor.skip(VALUE_BYTES[type] ?? 0);
  const item = cursor.u32();
  const count = cursor.u64();
  for (let at = 0; at < count; at++) skipValue(cursor, item);
}
