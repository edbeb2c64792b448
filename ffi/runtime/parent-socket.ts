// The socket to the parent process that native code reads aborts from, for engines whose code is WebAssembly: it blocks the
// one thread there is, which looks here whenever it is let.

import { writeSync } from "node:fs";
import { openSymbols, type Native } from "./library.ts";

const isMac = process.platform === "darwin";
/** Do not wait. */
const MSG_DONTWAIT = isMac ? 0x80 : 0x40;
const KEY_BYTES = 4;
const symbols = { recv: { args: ["i32", "buffer", "u64", "i32"], returns: "i64" } } as const;

export class ParentSocket {
  private readonly native: Native<typeof symbols>;
  private readonly bytes = new Uint8Array(1024 * KEY_BYTES);

  /** Throws when the system's C library cannot be opened. */
  constructor(private readonly fd: number) {
    this.native = openSymbols(isMac ? "libSystem.B.dylib" : "libc.so.6", symbols);
  }

  /** Keys of the jobs whose abort was requested since the last call, which does not wait. Ends the process when the parent is gone. */
  aborts(): number[] {
    const length = Number(this.native.recv(this.fd, this.bytes, this.bytes.length, MSG_DONTWAIT));
    if (length === 0) process.exit(0);
    const view = new DataView(this.bytes.buffer);
    return Array.from({ length: Math.max(0, Math.floor(length / KEY_BYTES)) }, (_, at) =>
      view.getInt32(at * KEY_BYTES, true),
    );
  }

  /** Tells that a computation has moved on, and what it is. */
  tellMoved(work: string): void {
    writeSync(this.fd, `+${work}\n`);
  }
}
