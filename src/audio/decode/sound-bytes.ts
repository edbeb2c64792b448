// Random access to a file, one part at a time.

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

export interface SoundBytes {
  readonly size: number;
  /** The offset at which the last read ended. */
  readonly position: number;
  /** Fills `out` from `offset` of the file; returns the number of bytes read. */
  read(offset: number, out: Uint8Array): number;
  close(): void;
}

/** Opens a file for reading. Throws the system's error. */
export function openBytes(path: string): SoundBytes {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  let position = 0;
  return {
    size: fstatSync(fd).size,
    get position() {
      return position;
    },
    read(offset, out) {
      const count = readSync(fd, out, 0, out.length, offset);
      position = offset + count;
      return count;
    },
    close: () => closeSync(fd),
  };
}

/** Returns at most `length` bytes from `offset`. */
export function bytesAt(file: SoundBytes, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  return offset < file.size ? bytes.subarray(0, file.read(offset, bytes)) : bytes.subarray(0, 0);
}
