// A file of JSON lines that survives a kill of the process at any moment: complete lines are read again, an incomplete
// end is truncated.

import { open, type FileHandle } from "node:fs/promises";
import { jsonParts } from "../domain/json-parts.ts";
import type { Semaphore } from "../domain/semaphore.ts";
import { isBadJson, LinesFile } from "./json-lines.ts";

/** Characters of a line to write at a time: an answer may have hundreds of megabytes. */
const PIECE = 64 * 1024;

/** Reserves space for bytes. */
type Claim = (bytes: number) => void | Promise<void>;

export class Journal {
  /** The current write: each write waits for the last, so that lines are not mixed. */
  private last: Promise<void> = Promise.resolve();

  private constructor(
    private readonly handle: FileHandle,
    /** Bytes of complete lines. */
    private size: number,
  ) {}

  /** Opens the file, and creates it if missing. Calls `recall` with every line in it; `memory`: for long ones. Throws system errors. */
  static async open(path: string, memory: Semaphore, recall: (line: unknown) => void): Promise<Journal> {
    const handle = await open(path, "a+", 0o600);
    try {
      const size = await recallLines(new LinesFile(path, memory), recall);
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

  /**
   * Appends a value as a line. `claim` is called with the bytes of each piece before it is written. After a failure, the
   * file is unchanged or has a part of the line.
   */
  append(value: unknown, claim: Claim = () => {}): Promise<void> {
    // Nothing may follow a partial line, so after one failed write all writes fail.
    const mine = this.last.then(() => this.write(value, claim));
    mine.catch(() => {});
    return (this.last = mine);
  }

  private async write(value: unknown, claim: Claim): Promise<void> {
    let [text, size] = ["", 0];
    const flush = async () => {
      const bytes = Buffer.from(text);
      await claim(bytes.length);
      for (let written = 0; written < bytes.length;) {
        written += (await this.handle.write(bytes, written)).bytesWritten;
      }
      size += bytes.length;
      text = "";
    };
    for (const part of jsonParts(value)) {
      text += part;
      if (text.length >= PIECE) await flush();
    }
    text += "\n";
    await flush();
    this.size += size;
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
async function recallLines(file: LinesFile, recall: (line: unknown) => void): Promise<number> {
  const { signal } = new AbortController();
  let size = 0;
  for await (const line of file.lines()) {
    if (!line.terminated) break;
    let value: unknown;
    try {
      value = await file.read(line, signal, (read) => read);
    } catch (error) {
      if (!isBadJson(error)) throw error;
      // After a loss of power, the file may have its length but not its bytes.
      break;
    }
    recall(value);
    size = line.end;
  }
  return size;
}
