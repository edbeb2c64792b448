// The socket to the parent process from which native code reads abort requests, for engines whose code is WebAssembly.
// That code blocks the only thread, which polls this socket whenever it gets control.

import { writeSync } from "node:fs";
import { openSymbols } from "./library.ts";
import { NamedPipe } from "./named-pipe.ts";

const isMac = process.platform === "darwin";
/** Flag for a non-blocking read. */
const MSG_DONTWAIT = isMac ? 0x80 : 0x40;
const KEY_BYTES = 4;

/**
 * Reads what has arrived through a socket; returns its length, 0 when the other end is gone, less when nothing arrived.
 */
type Receive = (bytes: Uint8Array) => number;

function receiveFrom(fd: number): Receive {
  const symbols = { recv: { args: ["i32", "buffer", "u64", "i32"], returns: "i64" } } as const;
  const { recv } = openSymbols(isMac ? "libSystem.B.dylib" : "libc.so.6", symbols);
  return (bytes) => Number(recv(fd, bytes, bytes.length, MSG_DONTWAIT));
}

function receiveFromPipe(fd: number): Receive {
  const symbols = { _get_osfhandle: { args: ["i32"], returns: "i64" } } as const;
  const pipe = new NamedPipe(Number(openSymbols("msvcrt.dll", symbols)._get_osfhandle(fd)));
  return (bytes) => {
    const length = pipe.read(bytes);
    return length === undefined ? 0 : length || -1;
  };
}

export class ParentSocket {
  private readonly receive: Receive;
  private readonly bytes = new Uint8Array(1024 * KEY_BYTES);

  /** Throws when the system's C library cannot be opened. */
  constructor(private readonly fd: number) {
    this.receive = process.platform === "win32" ? receiveFromPipe(fd) : receiveFrom(fd);
  }

  /**
   * Returns the keys of the jobs whose abort was requested since the last call. Never waits. Ends the process when the
   * parent is gone.
   */
  aborts(): number[] {
    const length = this.receive(this.bytes);
    if (length === 0) process.exit(0);
    const view = new DataView(this.bytes.buffer);
    return Array.from({ length: Math.max(0, Math.floor(length / KEY_BYTES)) }, (_, at) =>
      view.getInt32(at * KEY_BYTES, true),
    );
  }

  /** Reports that a computation has made progress, and what it is. */
  tellMoved(work: string): void {
    writeSync(this.fd, `+${work}\n`);
  }
}
