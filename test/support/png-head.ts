// PNG files as far as their heads tell: for what is never decoded.

const HEAD = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const GREY = 0;
const COLOURS_AND_ALPHA = 6;

/** A PNG of this size without a pixel in it. */
export function pngHead(width: number, height: number, { alpha = false } = {}): Uint8Array<ArrayBuffer> {
  const header = new DataView(new ArrayBuffer(13));
  header.setUint32(0, width);
  header.setUint32(4, height);
  header.setUint8(8, 8);
  header.setUint8(9, alpha ? COLOURS_AND_ALPHA : GREY);
  return join([HEAD, chunk("IHDR", new Uint8Array(header.buffer)), chunk("IEND", new Uint8Array())]);
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const typed = join([new TextEncoder().encode(type), data]);
  const [length, sum] = [new DataView(new ArrayBuffer(4)), new DataView(new ArrayBuffer(4))];
  length.setUint32(0, data.length);
  sum.setUint32(0, Bun.hash.crc32(typed));
  return join([new Uint8Array(length.buffer), typed, new Uint8Array(sum.buffer)]);
}

function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
