// Reads and writes the two headers of an rpm: lists of tags with their values.

import { BuildError } from "../vendor/run.ts";

/** A value of a header. */
export interface Entry {
  readonly type: number;
  readonly count: number;
  readonly data: Uint8Array;
}

/** The tags that stand for a whole header. */
export const HEADER_REGIONS = { signature: 62, header: 63 } as const;

const MAGIC = Buffer.from([0x8e, 0xad, 0xe8, 1, 0, 0, 0, 0]);
const ENTRY_BYTES = 16;
/** Sizes of the types whose values have one. */
const SIZES: Readonly<Record<number, number>> = { 3: 2, 4: 4, 7: 1 };
const BINARY = 7;
const TEXTS = [6, 8, 9];

/** Returns `offset`, or the next one that is a multiple of `size`. */
export const alignedTo = (size: number, offset: number): number => Math.ceil(offset / size) * size;

/** Returns the value of a tag that is one text. */
export const textEntry = (text: string): Entry => ({ type: 6, count: 1, data: Buffer.from(`${text}\0`) });

/** Reads the header at `start`: its values by tag, and where it ends. Throws BuildError for anything else. */
export function readHeader(
  bytes: Buffer,
  start: number,
): { readonly entries: Map<number, Entry>; readonly end: number } {
  if (!bytes.subarray(start, start + MAGIC.length).equals(MAGIC))
    throw new BuildError("This is not the header of an rpm.");
  const [count, size] = [bytes.readUInt32BE(start + 8), bytes.readUInt32BE(start + 12)];
  const store = start + 16 + count * ENTRY_BYTES;
  const entries = new Map<number, Entry>();
  for (let at = start + 16; at < store; at += ENTRY_BYTES) {
    const [tag, type, offset, count] = [0, 4, 8, 12].map((field) => bytes.readUInt32BE(at + field)) as Quad;
    if (Object.values<number>(HEADER_REGIONS).includes(tag)) continue;
    const begin = store + offset;
    entries.set(tag, { type, count, data: bytes.subarray(begin, begin + lengthOf(bytes, begin, type, count)) });
  }
  return { entries, end: store + size };
}

type Quad = [number, number, number, number];

function lengthOf(bytes: Buffer, begin: number, type: number, count: number): number {
  const size = SIZES[type];
  if (size !== undefined) return size * count;
  if (!TEXTS.includes(type)) throw new BuildError(`An rpm's header has values of the unknown type ${type}.`);
  let end = begin;
  for (let texts = 0; texts < count; texts++) end = bytes.indexOf(0, end) + 1;
  return end - begin;
}

/** Writes a header with these values; of several for one tag, the last. */
export function writeHeader(region: number, values: Iterable<readonly [number, Entry]>): Buffer {
  const entries = [...new Map(values)].toSorted(([one], [other]) => one - other);
  const count = entries.length + 1;
  const index: Buffer[] = [];
  const store: Uint8Array[] = [];
  let length = 0;
  const add = (data: Uint8Array) => {
    store.push(data);
    length += data.length;
  };
  for (const [tag, { type, count, data }] of entries) {
    add(Buffer.alloc(alignedTo(SIZES[type] ?? 1, length) - length));
    index.push(row(tag, type, length, count));
    add(data);
  }
  // The first row stands for all of them; its value is such a row, with the distance to the first.
  const own = row(region, BINARY, length, ENTRY_BYTES);
  add(row(region, BINARY, -count * ENTRY_BYTES, ENTRY_BYTES));
  const sizes = Buffer.alloc(8);
  sizes.writeUInt32BE(count);
  sizes.writeUInt32BE(length, 4);
  return Buffer.concat([MAGIC, sizes, own, ...index, ...store]);
}

function row(...fields: Quad): Buffer {
  const bytes = Buffer.alloc(ENTRY_BYTES);
  fields.forEach((field, at) => bytes.writeInt32BE(field, at * 4));
  return bytes;
}
