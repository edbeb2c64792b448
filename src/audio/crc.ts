// Checksums as in FLAC and Ogg: highest bit first, initial value zero.

/** Returns a function that computes the checksum with this width (8, 16 or 32 bits) and polynomial. */
export function crc(bits: 8 | 16 | 32, polynomial: number): (bytes: Uint8Array) => number {
  const shift = bits - 8;
  const mask = bits === 32 ? 0xffff_ffff : (1 << bits) - 1;
  const table = Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte << shift;
    for (let bit = 0; bit < 8; bit++) value = (value << 1) ^ ((value >>> (bits - 1)) & 1 ? polynomial : 0);
    return value & mask;
  });
  return (bytes) => {
    let value = 0;
    for (const byte of bytes) value = (value << 8) ^ (table[((value >>> shift) ^ byte) & 0xff] ?? 0);
    return (value & mask) >>> 0;
  };
}
