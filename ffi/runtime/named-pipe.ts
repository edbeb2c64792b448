// A bidirectional Windows pipe, used by its handle: the parent's end has no file descriptor.

import { openSymbols } from "./library.ts";

const symbols = {
  PeekNamedPipe: { args: ["u64", "ptr", "u32", "ptr", "buffer", "ptr"], returns: "i32" },
  ReadFile: { args: ["u64", "buffer", "u32", "ptr", "buffer"], returns: "i32" },
  WriteFile: { args: ["u64", "buffer", "u32", "ptr", "buffer"], returns: "i32" },
  GetOverlappedResult: { args: ["u64", "buffer", "buffer", "i32"], returns: "i32" },
  CancelIoEx: { args: ["u64", "buffer"], returns: "i32" },
  CreateEventW: { args: ["ptr", "i32", "i32", "ptr"], returns: "u64" },
  CloseHandle: { args: ["u64"], returns: "i32" },
} as const;
/** STATUS_PENDING, in the field of struct OVERLAPPED that holds the state of its operation. */
const PENDING = 0x103n;

/** No method waits for the other end. */
export class NamedPipe {
  private readonly native = openSymbols("kernel32.dll", symbols);
  private readonly event: bigint;
  private readonly length = new Uint32Array(1);

  constructor(private readonly handle: number) {
    this.event = this.native.CreateEventW(null, 1, 0, null);
  }

  /** Reads what has arrived; returns its length, or undefined when the other end is gone. */
  read(bytes: Uint8Array): number | undefined {
    if (this.native.PeekNamedPipe(this.handle, null, 0, null, this.length, null) === 0) return undefined;
    const there = Math.min(this.length[0] ?? 0, bytes.length);
    return there === 0 ? 0 : this.transfer("ReadFile", bytes.subarray(0, there));
  }

  /** Writes bytes; those that do not fit are lost. */
  write(bytes: Uint8Array): void {
    this.transfer("WriteFile", bytes);
  }

  close(): void {
    this.native.CloseHandle(this.event);
    this.native.CloseHandle(this.handle);
  }

  private transfer(how: "ReadFile" | "WriteFile", bytes: Uint8Array): number | undefined {
    // struct OVERLAPPED. The event's lowest bit keeps the result from Bun, which waits for those of its own calls.
    const operation = new BigUint64Array(4);
    operation[3] = this.event | 1n;
    this.native[how](this.handle, bytes, bytes.length, null, operation);
    if (operation[0] === PENDING) this.native.CancelIoEx(this.handle, operation);
    const isDone = this.native.GetOverlappedResult(this.handle, operation, this.length, 1) !== 0;
    return isDone ? this.length[0] : undefined;
  }
}
