// A file of JSON lines that a process may be killed over at any moment: what was written whole before is read again, what
// was cut off is cut away.

import { open, type FileHandle } from "node:fs/promises";
import { linesOf, parseLine } from "./json-lines.ts";

export class Journal {
  /** The write under way: lines must not come between the parts of another. */
  private last: Promise<void> = Promise.resolve();

  private constructor(
    private readonly handle: FileHandle,
    /** Bytes of whole lines. */
    private size: number,
  ) {}

  /** Opens the file, and makes it if it is not there. `recall` is told every line that it has. */
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

  /** Writes whole lines, each with its end. When that fails, the file is as it was before or has a part of them. */
  append(lines: string): Promise<void> {
    // Behind a part of a line nothing may come: once a write has failed, all do.
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

  /** Waits until what was written survives a loss of power. */
  async sync(): Promise<void> {
    await this.handle.sync();
  }

  async close(): Promise<void> {
    await this.last.catch(() => {});
    await this.handle.close();
  }
}

/** Bytes of the whole lines at the beginning. */
async function recallLines(path: string, recall: (line: unknown) => void): Promise<number> {
  let size = 0;
  for await (const line of linesOf(Bun.file(path).stream())) {
    if (!line.terminated) break;
    let value: unknown;
    try {
      value = await parseLine(line);
    } catch {
      // A machine that lost its power may have kept the length of the file and not its bytes.
      break;
    }
    recall(value);
    size = line.end;
  }
  return size;
}
