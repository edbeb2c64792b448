// The parent's end of the socket that native code of an engine process listens to and reports on.

import { closeSync, readSync, writeSync } from "node:fs";
import { NamedPipe } from "./named-pipe.ts";

export interface ChildSocket {
  /** Reads what has come; returns its length. Throws, or returns undefined, when there is nothing or the process is gone. */
  read(bytes: Uint8Array): number | undefined;
  /** Throws when the process is gone or does not read. */
  write(bytes: Uint8Array): void;
  close(): void;
}

/** `end`: what Bun gives for a pipe among the files of a process: a file descriptor, or on Windows a handle. */
export const childSocket = (end: number): ChildSocket =>
  process.platform === "win32"
    ? new NamedPipe(end)
    : { read: (bytes) => readSync(end, bytes), write: (bytes) => writeSync(end, bytes), close: () => closeSync(end) };
