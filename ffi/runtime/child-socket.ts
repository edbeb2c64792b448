// The parent's end of the socket on which native code of an engine process listens and reports.

import { closeSync, readSync, writeSync } from "node:fs";
import { NamedPipe } from "./named-pipe.ts";

export interface ChildSocket {
  /**
   * Reads what has arrived and returns its length. When nothing has arrived or the process is gone, throws, or returns
   * 0 or undefined.
   */
  read(bytes: Uint8Array): number | undefined;
  /** Throws when the process is gone or does not read; on Windows the bytes are lost instead. */
  write(bytes: Uint8Array): void;
  close(): void;
}

/** `end`: what Bun returns for a pipe among the files of a process: a file descriptor, or a handle on Windows. */
export const childSocket = (end: number): ChildSocket =>
  process.platform === "win32"
    ? new NamedPipe(end)
    : { read: (bytes) => readSync(end, bytes), write: (bytes) => writeSync(end, bytes), close: () => closeSync(end) };
