// Random access to a sound file, one part at a time.

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

export interface SoundBytes {
  readonly size: number;
  /** The offset at which the last read ended. */
  readonly position: number;
  /** Fills `out` from `offset` of the file; returns the number of bytes read. */
  read(offset: number, out: Uint8Array): number;
  close(): void;
}

/** The path of a sound file, or its bytes. */
export type SoundFile = string | Uint8Array;

/** Opens a file for reading. Throws the system's error. */
export function openBytes(source: SoundFile): SoundBytes {
  const bytes = typeof source === "string" ? undefined : source;
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const fd = typeof source === "string" ? openSync(source, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)) : -1;
  let position = 0;
  return {
    size: bytes?.length ?? fstatSync(fd).size,
    get position() {
      return position;
    },
    read(offset, out) {
      const part = bytes?.subarray(offset, offset + out.length);
      if (part) out.set(part);
      const count = part?.length ?? readSync(fd, out, 0, out.length, offset);
      position = offset + count;
      return count;
    },
    close() {
      if (!bytes) closeSync(fd);
    },
  };
}

/** Returns at most `length` bytes from `offset`. */
export function bytesAt(file: SoundBytes, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  return offset < file.size ? bytes.subarray(0, file.read(offset, bytes)) : bytes.subarray(0, 0);
}
