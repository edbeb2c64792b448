// A file of JSON lines that survives a kill of the process at any moment: complete lines are read again, an incomplete
// end is truncated.

import { open, type FileHandle } from "node:fs/promises";
import { linesOf, parseLine } from "./json-lines.ts";

export class Journal {
  /** The current write: each write waits for the last, so that lines are not mixed. */
  private last: Promise<void> = Promise.resolve();

  private constructor(
    private readonly handle: FileHandle,
    /** Bytes of complete lines. */
    private size: number,
  ) {}

  /** Opens the file, and creates it if missing. Calls `recall` with every line in it. */
  static async open(path: string, recall: (line: unknown) => void): Promise<Journal> {
    const handle = await open(path, "a+", 0o600);
    try {
      const size = await recallLines(path, recall);
      await handle.truncate(size);
      return new Journal(handle, size);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  get bytes(): number {
    return this.size;
  }

  /** Appends complete lines with their newlines. After a failed write, the file is unchanged or has a part of them. */
  append(lines: string): Promise<void> {
    // Nothing may follow a partial line, so after one failed write all writes fail.
    const mine = this.last.then(() => this.write(Buffer.from(lines)));
    mine.catch(() => {});
    return (this.last = mine);
  }

  private async write(bytes: Buffer): Promise<void> {
    for (let written = 0; written < bytes.length;) {
      written += (await this.handle.write(bytes, written)).bytesWritten;
    }
    this.size += bytes.length;
  }

  /** Waits until everything written survives a loss of power. */
  async sync(): Promise<void> {
    await this.handle.sync();
  }

  async close(): Promise<void> {
    await this.last.catch(() => {});
    await this.handle.close();
  }
}

/** Calls `recall` with each complete line and returns the bytes of all of them. */
async function recallLines(path: string, recall: (line: unknown) => void): Promise<number> {
  let size = 0;
  for await (const line of linesOf(Bun.file(path).stream())) {
    if (!line.terminated) break;
    let value: unknown;
    try {
      value = await parseLine(line);
    } catch {
      // After a loss of power, the file may have its length but not its bytes.
      break;
    }
    recall(value);
    size = line.end;
  }
  return size;
}
