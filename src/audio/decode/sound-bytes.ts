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

/** Opens a sound file for reading. Throws the system's error. */
export function openBytes(source: SoundFile): SoundBytes {
  if (typeof source !== "string") return reader(source.length, (offset, out) => copy(source, offset, out));
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const fd = openSync(source, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  const read = (offset: number, out: Uint8Array) => readSync(fd, out, 0, out.length, offset);
  return reader(fstatSync(fd).size, read, () => closeSync(fd));
}

function reader(size: number, read: SoundBytes["read"], close = () => {}): SoundBytes {
  let position = 0;
  return {
    size,
    get position() {
      return position;
    },
    read(offset, out) {
      const count = read(offset, out);
      position = offset + count;
      return count;
    },
    close,
  };
}

function copy(source: Uint8Array, offset: number, out: Uint8Array): number {
  const part = source.subarray(offset, offset + out.length);
  out.set(part);
  return part.length;
}

/** Returns at most `length` bytes from `offset`. */
export function bytesAt(file: SoundBytes, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  return offset < file.size ? bytes.subarray(0, file.read(offset, bytes)) : bytes.subarray(0, 0);
}
