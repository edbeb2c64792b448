// Reads little-endian values from the start of a large file, through a window that is refilled as needed.

import { readSync } from "node:fs";

const WINDOW_BYTES = 1 << 20;
const decoder = new TextDecoder();

/** Thrown when the file ends inside the header, or when a length in the header exceeds the limit. */
export class HeaderOutOfBounds extends Error {}

/** Checks every length against `limit` before reading or skipping, so corrupt lengths cost nothing. */
export class GgufCursor {
  private window = new Uint8Array(WINDOW_BYTES);
  private view = new DataView(this.window.buffer);
  /** File position of the window's first byte, and how many bytes of the window are filled. */
  private base = 0;
  private filled = 0;
  private at = 0;

  /** Reads at most the first `limit` bytes of `fd`. */
  constructor(
    private readonly fd: number,
    private readonly limit: number,
  ) {}

  /** Position in the file in bytes. */
  get position(): number {
    return this.base + this.at;
  }

  get remaining(): number {
    return this.limit - this.position;
  }

  u8(): number {
    return this.view.getUint8(this.take(1));
  }
  i8(): number {
    return this.view.getInt8(this.take(1));
  }
  u16(): number {
    return this.view.getUint16(this.take(2), true);
  }
  i16(): number {
    return this.view.getInt16(this.take(2), true);
  }
  u32(): number {
    return this.view.getUint32(this.take(4), true);
  }
  i32(): number {
    return this.view.getInt32(this.take(4), true);
  }
  f32(): number {
    return this.view.getFloat32(this.take(4), true);
  }
  /** Beyond 2^53, returns the nearest double, which every bounds check refuses as well. */
  u64(): number {
    return Number(this.view.getBigUint64(this.take(8), true));
  }
  i64(): number {
    return Number(this.view.getBigInt64(this.take(8), true));
  }
  f64(): number {
    return this.view.getFloat64(this.take(8), true);
  }

  /** Reads a string with a length prefix; skips a string of more than `longest` bytes and returns "". */
  string(longest = WINDOW_BYTES): string {
    const length = this.u64();
    if (length > Math.min(longest, WINDOW_BYTES)) {
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
    const wanted = Math.min(WINDOW_BYTES, this.remaining);
    while (this.filled < needed) {
      const read = readSync(this.fd, this.window, this.filled, wanted - this.filled, this.base + this.filled);
      if (read === 0) throw new HeaderOutOfBounds();
      this.filled += read;
    }
  }
}
