// Limits the memory of a WebAssembly module to less than its package was built for.

const MEMORY_SECTION = 5;
const PAGE_BYTES = 65_536;
const HEADER_BYTES = 8;
/** Twice what a page of 4096 by 4096 pixels needs. */
const MEMORY_BYTES = 1 << 30;

/** Reads a module from a file and limits its memory to what pages need. Throws as `limitMemory` does. */
export const limitedModule = async (path: string): Promise<Uint8Array<ArrayBuffer>> =>
  limitMemory(await Bun.file(path).bytes(), MEMORY_BYTES);

/**
 * Returns the module with its memory's maximum lowered to this many bytes. Throws when it has no memory of its own with
 * a higher maximum.
 */
export function limitMemory(module: Uint8Array, bytes: number): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(module);
  for (let at = HEADER_BYTES; at < copy.length;) {
    const [length, start] = readNumber(copy, at + 1);
    if (copy[at] === MEMORY_SECTION) {
      lowerMaximum(copy, start, Math.floor(bytes / PAGE_BYTES));
      return copy;
    }
    at = start + length;
  }
  throw new Error("the WebAssembly module has no memory of its own");
}

/** Section: number of memories, and for the first its flags (1: has a maximum), minimum and maximum in pages. */
function lowerMaximum(module: Uint8Array, section: number, pages: number): void {
  const [, flagsAt] = readNumber(module, section);
  const [flags, minimumAt] = readNumber(module, flagsAt);
  const [minimum, maximumAt] = readNumber(module, minimumAt);
  const [maximum, end] = readNumber(module, maximumAt);
  if (flags !== 1 || maximum <= pages || minimum > pages) {
    throw new Error(`the WebAssembly module's memory of ${minimum} to ${maximum} pages cannot be limited to ${pages}`);
  }
  // Seven bits per byte, the top bit set on all but the last; leading zeros keep the length.
  for (let at = maximumAt, rest = pages; at < end; at++, rest >>>= 7) {
    module[at] = (rest & 0x7f) | (at < end - 1 ? 0x80 : 0);
  }
}

/** Reads an unsigned LEB128 number; returns it and where it ends. */
function readNumber(bytes: Uint8Array, start: number): [value: number, end: number] {
  let value = 0;
  for (let at = start, scale = 1; at < bytes.length; at++, scale *= 128) {
    const byte = bytes[at] as number;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return [value, at + 1];
  }
  throw new Error("the WebAssembly module is cut off");
}
