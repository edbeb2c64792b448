// How deep JSON may nest that clients send.

/** Containers inside one another. Real requests stay far below; a bomb of brackets costs seconds to parse. */
export const DEEPEST_JSON = 128;

/** Whether the JSON text has more containers inside one another than `limit`. */
export function deeperThan(limit: number, bytes: Uint8Array): boolean {
  let depth = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === 0x22) {
      // A string: brackets inside it do not count.
      while (++i < bytes.length && bytes[i] !== 0x22) if (bytes[i] === 0x5c) i++;
    } else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > limit) return true;
    } else if (byte === 0x5d || byte === 0x7d) depth--;
  }
  return false;
}
