// Decompresses LZW and PackBits; the output never exceeds the requested length, however damaged the input is.

const CLEAR = 256;
const END = 257;
const FEWEST_BITS = 9;
const MOST_BITS = 12;

/**
 * Decompresses LZW as in TIFF: codes of 9 to 12 bits, highest bit first. Returns at most `length` bytes; fewer when the
 * input ends or is damaged.
 */
export function unpackLzw(packed: Uint8Array, length: number): Uint8Array {
  const output = new Uint8Array(length);
  // The string of every code is a contiguous part of the earlier output.
  const starts = new Int32Array(1 << MOST_BITS);
  const lengths = new Int32Array(1 << MOST_BITS);
  let [at, read, bits, next, start, size] = [0, 0, FEWEST_BITS, END + 1, 0, 0];
  while (at < length && read + bits <= packed.length * 8) {
    const code = codeAt(packed, read, bits);
    read += bits;
    if (code === END) break;
    if (code === CLEAR) {
      [bits, next, size] = [FEWEST_BITS, END + 1, 0];
      continue;
    }
    if (size > 0 && next < 1 << MOST_BITS) {
      starts[next] = start;
      lengths[next] = size + 1;
      next++;
    }
    if (code > END && code >= next) break;
    start = at;
    if (code < CLEAR) output[at++] = code;
    else {
      const from = starts[code] as number;
      const count = Math.min(lengths[code] as number, length - at);
      // Byte by byte: the string may overlap the bytes being written.
      for (let index = 0; index < count; index++) output[at++] = output[from + index] as number;
    }
    size = at - start;
    // The encoder widens codes one code early.
    if (next >= (1 << bits) - 1 && bits < MOST_BITS) bits++;
  }
  return output.subarray(0, at);
}

function codeAt(bytes: Uint8Array, bit: number, bits: number): number {
  const at = bit >>> 3;
  const word = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
  return (word >>> (24 - (bit & 7) - bits)) & ((1 << bits) - 1);
}

/** Decompresses PackBits: runs of one byte, and of different bytes. Returns at most `length` bytes. */
export function unpackBits(packed: Uint8Array, length: number): Uint8Array {
  const output = new Uint8Array(length);
  let at = 0;
  for (let read = 0; read < packed.length && at < length;) {
    const head = ((packed[read++] as number) << 24) >> 24;
    if (head === -128) continue;
    if (head >= 0) {
      const run = packed.subarray(read, read + Math.min(head + 1, length - at));
      output.set(run, at);
      at += run.length;
      read += head + 1;
    } else {
      const end = Math.min(at + 1 - head, length);
      output.fill(packed[read++] ?? 0, at, end);
      at = end;
    }
  }
  return output.subarray(0, at);
}
