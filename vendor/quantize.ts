// Quantizes weights to Q8_0: blocks of 32 values as a half-precision scale and 32 signed bytes.

const BLOCK = 32;
const BLOCK_BYTES = 2 + BLOCK;

/** Returns the bytes of that many values. */
export const q8Bytes = (values: number): number => (values / BLOCK) * BLOCK_BYTES;

/** Writes whole blocks. Differs from ggml's result only where a value lies halfway between two steps. */
export function quantizeQ8(values: Float32Array, bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, q8Bytes(values.length));
  for (let from = 0, at = 0; from < values.length; from += BLOCK, at += BLOCK_BYTES) {
    let most = 0;
    for (let i = 0; i < BLOCK; i++) most = Math.max(most, Math.abs(values[from + i] as number));
    const scale = most / 127;
    const inverse = scale === 0 ? 0 : 1 / scale;
    view.setFloat16(at, scale, true);
    for (let i = 0; i < BLOCK; i++) bytes[at + 2 + i] = Math.round((values[from + i] as number) * inverse);
  }
}
