// Reads the header of a GGUF file, in milliseconds whatever its size, so that a bad file is refused with a sentence before
// an engine is started. Format: the ggml project's gguf.md, versions 2 and 3, little-endian.

import { closeSync, openSync, readSync, statSync, type Stats } from "node:fs";

/** The file cannot be served; the message is one plain sentence for the operator. */
export class ModelFileError extends Error {
  override readonly name = "ModelFileError";
}

/** A metadata value. Arrays of numbers are kept up to 4,096 items, everything longer only as its length. */
export type GgufValue = string | number | boolean | bigint | readonly number[] | { readonly length: number };

export interface Gguf {
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly tensors: number;
  /** Bytes that the tensors and the header need; a shorter file is truncated. */
  readonly bytesNeeded: number;
  readonly fileBytes: number;
  /** Last change of the file, Unix seconds. */
  readonly modified: number;
}

const MAGIC = 0x46554747;
const CHUNK = 1 << 20;
/** No real header is larger; a count that claims more is damage. */
const MOST_HEADER_BYTES = 512 * 2 ** 20;
const KEPT_ITEMS = 4096;
const DEFAULT_ALIGNMENT = 32;

/** Bytes of the fixed-size value types by their number; 8 is string, 9 is array. */
const SIZES: Readonly<Record<number, number>> = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 };

/** Block size in elements and bytes of every tensor type that llama.cpp 0.5.0 stores (ggml.h, ggml-common.h). */
const TENSOR_TYPES: Readonly<Record<number, readonly [number, number]>> = {
  0: [1, 4],
  1: [1, 2],
  2: [32, 18],
  3: [32, 20],
  6: [32, 22],
  7: [32, 24],
  8: [32, 34],
  9: [32, 36],
  10: [256, 84],
  11: [256, 110],
  12: [256, 144],
  13: [256, 176],
  14: [256, 210],
  15: [256, 292],
  16: [256, 66],
  17: [256, 74],
  18: [256, 98],
  19: [256, 50],
  20: [32, 18],
  21: [256, 110],
  22: [256, 82],
  23: [256, 136],
  24: [1, 1],
  25: [1, 2],
  26: [1, 4],
  27: [1, 8],
  28: [1, 8],
  29: [256, 56],
  30: [1, 2],
  34: [256, 54],
  35: [256, 66],
  39: [32, 17],
  40: [64, 36],
};

/**
 * Reads the header. Throws ModelFileError when the file is missing, not readable, a directory, not a GGUF file, of an
 * unknown version, damaged or truncated.
 */
export function readGguf(path: string): Gguf {
  const stats = inspect(path);
  const fd = open(path);
  try {
    return parse(new HeaderReader(fd, stats.size), stats);
  } catch (error) {
    throw error instanceof Damage ? new ModelFileError(`${path} ${error.message}`) : error;
  } finally {
    closeSync(fd);
  }
}

function inspect(path: string): Stats {
  let stats: Stats;
  try {
    stats = statSync(path);
  } catch (error) {
    throw new ModelFileError(reasonOf(error, path));
  }
  if (stats.isDirectory()) throw new ModelFileError(`${path} is a directory, not a GGUF file.`);
  if (!stats.isFile()) throw new ModelFileError(`${path} is not a regular file.`);
  return stats;
}

function open(path: string): number {
  try {
    return openSync(path, "r");
  } catch (error) {
    throw new ModelFileError(reasonOf(error, path));
  }
}

function reasonOf(error: unknown, path: string): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT" || code === "ENOTDIR") return `There is no file ${path}.`;
  if (code === "EACCES" || code === "EPERM") return `${path} cannot be read: permission denied.`;
  return `${path} cannot be read (${String(code)}).`;
}

function parse(reader: HeaderReader, stats: Stats): Gguf {
  if (reader.remaining < 4 || reader.u32() !== MAGIC) throw new Damage("is not a GGUF file.");
  const version = reader.u32();
  if (version !== 2 && version !== 3) {
    const hint = version > 0xffff ? " (or a big-endian file)" : "";
    throw new Damage(`is a GGUF file of version ${version}${hint}; versions 2 and 3 can be read.`);
  }
  const tensors = reader.count();
  const pairs = reader.count();
  const metadata = new Map<string, GgufValue>();
  for (let index = 0; index < pairs; index++) {
    const key = reader.text();
    metadata.set(key, reader.value(reader.u32()));
  }
  const end = reader.tensorEnd(tensors);
  const alignment = metadata.get("general.alignment");
  const step = typeof alignment === "number" && alignment > 0 ? alignment : DEFAULT_ALIGNMENT;
  const dataStart = Math.ceil(reader.position / step) * step;
  const bytesNeeded = tensors === 0 ? reader.position : dataStart + end;
  if (bytesNeeded > stats.size) {
    throw new Damage(`is truncated: it has ${stats.size} bytes and needs ${bytesNeeded}. Was the download cut off?`);
  }
  return { metadata, tensors, bytesNeeded, fileBytes: stats.size, modified: Math.floor(stats.mtimeMs / 1000) };
}

/** Reads forward through a file in chunks and never beyond its end. */
class HeaderReader {
  position = 0;
  private chunk = new DataView(new ArrayBuffer(0));
  private chunkStart = 0;
  private readonly decoder = new TextDecoder();

  constructor(
    private readonly fd: number,
    private readonly size: number,
  ) {}

  get remaining(): number {
    return this.size - this.position;
  }

  u32(): number {
    return this.take(4).getUint32(0, true);
  }

  /** A 64-bit count of things that take at least a byte each. */
  count(): number {
    const value = this.take(8).getBigUint64(0, true);
    if (value > BigInt(this.remaining)) throw damaged();
    return Number(value);
  }

  text(): string {
    const bytes = this.take(this.count());
    return this.decoder.decode(bytes);
  }

  value(type: number): GgufValue {
    if (type === 8) return this.text();
    if (type === 9) return this.array();
    return this.scalar(type);
  }

  /** Skips the tensor table; returns the end of the last tensor's data, from the start of the data. */
  tensorEnd(tensors: number): number {
    let end = 0;
    for (let index = 0; index < tensors; index++) {
      this.skip(this.count());
      const dimensions = this.u32();
      if (dimensions > 8) throw damaged();
      let elements = 1;
      for (let dimension = 0; dimension < dimensions; dimension++) {
        elements *= Number(this.take(8).getBigUint64(0, true));
      }
      const type = this.u32();
      const offset = Number(this.take(8).getBigUint64(0, true));
      const block = TENSOR_TYPES[type];
      // A type that this reader does not know is for llama.cpp to judge; its start must be inside the file all the same.
      const bytes = block ? (elements / block[0]) * block[1] : 0;
      end = Math.max(end, offset + bytes);
    }
    return end;
  }

  private array(): GgufValue {
    const type = this.u32();
    const length = this.count();
    if (type === 8) {
      for (let index = 0; index < length; index++) this.skip(this.count());
      return { length };
    }
    const size = SIZES[type];
    if (size === undefined) throw damaged();
    if (length > KEPT_ITEMS || size === 8) {
      this.skip(length * size);
      return { length };
    }
    return Array.from({ length }, () => Number(this.scalar(type)));
  }

  private scalar(type: number): number | boolean | bigint {
    const size = SIZES[type];
    if (size === undefined) throw damaged();
    const view = this.take(size);
    switch (type) {
      case 0:
        return view.getUint8(0);
      case 1:
        return view.getInt8(0);
      case 2:
        return view.getUint16(0, true);
      case 3:
        return view.getInt16(0, true);
      case 4:
        return view.getUint32(0, true);
      case 5:
        return view.getInt32(0, true);
      case 6:
        return view.getFloat32(0, true);
      case 7:
        return view.getUint8(0) !== 0;
      case 10:
        return view.getBigUint64(0, true);
      case 11:
        return view.getBigInt64(0, true);
      default:
        return view.getFloat64(0, true);
    }
  }

  private skip(bytes: number): void {
    if (bytes > this.remaining) throw damaged();
    this.position += bytes;
  }

  private take(bytes: number): DataView {
    if (bytes > this.remaining || this.position + bytes > MOST_HEADER_BYTES) throw damaged();
    let start = this.position - this.chunkStart;
    if (start < 0 || start + bytes > this.chunk.byteLength) {
      this.load(Math.max(bytes, CHUNK));
      start = 0;
    }
    this.position += bytes;
    return new DataView(this.chunk.buffer, start, bytes);
  }

  private load(bytes: number): void {
    const buffer = new Uint8Array(Math.min(bytes, this.remaining));
    let filled = 0;
    while (filled < buffer.length) {
      const got = readSync(this.fd, buffer, filled, buffer.length - filled, this.position + filled);
      if (got === 0) throw damaged();
      filled += got;
    }
    this.chunk = new DataView(buffer.buffer);
    this.chunkStart = this.position;
  }
}

/** What is wrong with the content, as the rest of a sentence about the file. */
class Damage extends Error {}

const damaged = () => new Damage("is damaged: its header does not add up, or it was cut off there.");
