// Reads little-endian values from the start of a large file, through a window that is refilled as needed.

import { readSync } from "node:fs";

const WINDOW_BYTES = 1 << 20;
const decoder = new TextDecoder();

type Read = (view: DataView, at: number) => number;
const u8: Read = (view, at) => view.getUint8(at);
const u32: Read = (view, at) => view.getUint32(at, true);
/** Beyond 2^53, returns the nearest double, which every bounds check refuses as well. */
const u64: Read = (view, at) => Number(view.getBigUint64(at, true));

/** The numbers by GGUF's type number, which skips strings and arrays; 7 is a boolean. */
const NUMBERS: readonly (readonly [bytes: number, read: Read] | undefined)[] = [
  [1, u8],
  [1, (view, at) => view.getInt8(at)],
  [2, (view, at) => view.getUint16(at, true)],
  [2, (view, at) => view.getInt16(at, true)],
  [4, u32],
  [4, (view, at) => view.getInt32(at, true)],
  [4, (view, at) => view.getFloat32(at, true)],
  [1, u8],
  undefined,
  undefined,
  [8, u64],
  [8, (view, at) => Number(view.getBigInt64(at, true))],
  [8, (view, at) => view.getFloat64(at, true)],
];

/** Returns the bytes of a number of this type; undefined for all else. */
export const numberBytes = (type: number): number | undefined => NUMBERS[type]?.[0];

/** Thrown when the file ends inside the header, or when a length in the header exceeds the limit. */
export class HeaderOutOfBounds extends Error {}

/** Checks every length against `limit` before reading or skipping, so corrupt lengths cost nothing. */
export class GgufCursor {
  private readonly window: Uint8Array<ArrayBuffer>;
  private readonly view: DataView;
  /** File position of the window's first byte, and how many bytes of the window are filled. */
  private base = 0;
  private filled = 0;
  private at = 0;

  /** Reads at most the first `limit` bytes of `fd`. `windowBytes`: how many are read at a time. */
  constructor(
    private readonly fd: number,
    private readonly limit: number,
    windowBytes = WINDOW_BYTES,
  ) {
    this.window = new Uint8Array(windowBytes);
    this.view = new DataView(this.window.buffer);
  }

  /** Position in the file in bytes. */
  get position(): number {
    return this.base + this.at;
  }

  get remaining(): number {
    return this.limit - this.position;
  }

  /** Reads a number of this type; undefined when there is no such type. */
  number(type: number): number | undefined {
    const known = NUMBERS[type];
    return known && known[1](this.view, this.take(known[0]));
  }

  u32(): number {
    return u32(this.view, this.take(4));
  }

  u64(): number {
    return u64(this.view, this.take(8));
  }

  /** Reads a string with a length prefix; skips a string of more than `longest` bytes and returns "". */
  string(longest = WINDOW_BYTES): string {
    const length = this.u64();
    if (length > Math.min(longest, this.window.length)) {
      this.skip(length);
      return "";
    }
    const start = this.take(length);
    return decoder.decode(this.window.subarray(start, start + length));
  }

  bytes(count: number): Uint8Array {
    const start = this.take(count);
    return this.window.slice(start, start + count);
  }

  /** Skips `count` bytes without reading them. */
  skip(count: number): void {
    if (count > this.remaining) throw new HeaderOutOfBounds();
    this.at += count;
    if (this.at > this.filled) this.moveTo(this.position);
  }

  /** Makes `count` bytes available in the window; returns their start in the window. */
  private take(count: number): number {
    if (this.at + count > this.filled) {
      if (count > this.remaining) throw new HeaderOutOfBounds();
      this.moveTo(this.position);
      this.fill(count);
    }
    const start = this.at;
    this.at += count;
    return start;
  }

  private moveTo(position: number): void {
    this.base = position;
    this.at = 0;
    this.filled = 0;
  }

  private fill(needed: number): void {
    const wanted = Math.min(this.window.length, this.remaining);
    while (this.filled < needed) {
      const read = readSync(this.fd, this.window, this.filled, wanted - this.filled, this.base + this.filled);
      if (read === 0) throw new HeaderOutOfBounds();
      this.filled += read;
    }
  }
}
