// Writes a trace to disk: one event per line in a JSON array that is never closed. The format allows that, so the file
// is valid at every moment, even if its writer dies.

import { closeSync, fstatSync, ftruncateSync, openSync, writeFileSync, writeSync } from "node:fs";
import { fileReason } from "../domain/system-error-code.ts";

const FLUSH_MS = 1000;
const MIB = 1024 ** 2;

/** Size in bytes at which a trace ends. */
const TRACE_LIMIT = 256 * MIB;

/** Throws the system's error when no trace can be written at `path`. Creates a missing file, and empties none. */
export function checkTraceFile(path: string): void {
  closeSync(openSync(path, "a"));
}

/** Creates an empty trace at `path`, replacing any content. Throws the system's error. */
export function createTraceFile(path: string): void {
  writeFileSync(path, "");
}

export class TraceFile {
  private file: number | undefined;
  private size = 0;
  private waiting = "";
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** Appends to the trace at `path`. `ended` is called once, with the reason, when writing stops. */
  constructor(
    path: string,
    private readonly ended: (reason: string) => void,
    private readonly limit = TRACE_LIMIT,
  ) {
    try {
      this.file = openSync(path, "a");
      this.size = fstatSync(this.file).size;
    } catch (error) {
      this.end(reasonOf(error));
    }
  }

  /** Adds events, which are written to disk within about a second. */
  add(...events: readonly string[]): void {
    if (this.file === undefined) return;
    for (const event of events) {
      this.waiting += `${this.size === 0 && this.waiting === "" ? "[\n" : ",\n"}${event}`;
    }
    this.timer ??= setTimeout(() => this.flush(), FLUSH_MS);
  }

  /** Writes all pending events now. */
  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.file === undefined || this.waiting === "") return;
    const bytes = Buffer.from(this.waiting);
    this.waiting = "";
    if (this.size + bytes.length > this.limit) return this.end(`it has reached ${Math.floor(this.limit / MIB)} MiB`);
    try {
      for (let done = 0; done < bytes.length;) done += writeSync(this.file, bytes, done);
      this.size += bytes.length;
    } catch (error) {
      this.cutBack();
      this.end(reasonOf(error));
    }
  }

  /** Removes a partly written event, left by a full disk: half an event would corrupt the whole file. */
  private cutBack(): void {
    try {
      if (this.file !== undefined) ftruncateSync(this.file, this.size);
    } catch {
      // The trace is a device, which cannot be truncated.
    }
  }

  private end(reason: string): void {
    if (this.file !== undefined) closeSync(this.file);
    this.file = undefined;
    this.ended(reason);
  }
}

const reasonOf = (error: unknown): string => `it cannot be written: ${fileReason(error)}`;
