// A file that is read here and there, a part at a time.

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

export interface SoundBytes {
  readonly size: number;
  /** Where the last read ended. */
  readonly position: number;
  /** Fills `out` from `offset` of the file on, and returns how many bytes there were. */
  read(offset: number, out: Uint8Array): number;
  close(): void;
}

/** Opens a file for reading. Throws the system's error. */
export function openBytes(path: string): SoundBytes {
  // Without O_NONBLOCK a named pipe would hang until somebody writes to it.
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

/** Its first bytes from `offset` on, at most `length`. */
export function bytesAt(file: SoundBytes, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  return offset < file.size ? bytes.subarray(0, file.read(offset, bytes)) : bytes.subarray(0, 0);
}
