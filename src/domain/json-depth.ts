// How deep JSON may nest that clients send.

/** Containers inside one another. Real requests stay far below; a bomb of brackets costs seconds to parse. */
export const DEEPEST_JSON = 128;

const OPENING = [0x5b, 0x7b] as const;

/** Whether the JSON text has more containers inside one another than `limit`. */
export function deeperThan(limit: number, bytes: Uint8Array): boolean {
  return opens(limit, bytes) && nests(limit, bytes);
}

/** Most bodies have so few brackets that they need not be read for this byte by byte, which takes ten times as long. */
function opens(limit: number, bytes: Uint8Array): boolean {
  let count = 0;
  for (const bracket of OPENING) {
    for (let at = bytes.indexOf(bracket); at >= 0; at = bytes.indexOf(bracket, at + 1))
      if (++count > limit) return true;
  }
  return false;
}

function nests(limit: number, bytes: Uint8Array): boolean {
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
