// Checks that a file is still what was written: disks and killed machines damage files without changing their size.

import { closeSync, openSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";

/** Small, because a file read whole would stay in this process's memory for a while. */
const BUFFER_BYTES = 1 << 20;

/** Returns the CRC-32 of a file's content. Throws when the file cannot be read. */
export function checksum(path: string): number {
  const buffer = new Uint8Array(BUFFER_BYTES);
  const file = openSync(path, "r");
  try {
    for (let value = 0; ;) {
      const length = readSync(file, buffer);
      if (length === 0) return value;
      value = crc32(buffer.subarray(0, length), value);
    }
  } finally {
    closeSync(file);
  }
}
