// A content that comes in: straight to disk, within its limits, and looked at line by line on the way.

import { open, rename, rm } from "node:fs/promises";
import { SvcError } from "../../domain/errors.ts";
import { DEEPEST_JSON, deeperThan } from "../../domain/json-depth.ts";
import { isBlank, LineCutter, parseLine, type Line } from "../../store/json-lines.ts";

export interface ContentLimits {
  readonly bytes: number;
  readonly lines: number;
}

const MB = 1024 * 1024;

/**
 * Writes JSON Lines to `path`; returns its size in bytes. `claim` is asked for room for each piece. Throws SvcError `payload_too_large`, `invalid_json` or
 * `invalid_value` about the content, what the system throws, or what `chunks` or `claim` throws; then nothing is left behind.
 */
export async function receiveContent(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  limits: ContentLimits,
  claim: (bytes: number) => void,
): Promise<number> {
  const handle = await open(path, "wx", 0o600);
  try {
    let bytes = 0;
    const check = new LineCheck(limits.lines);
    const cutter = new LineCutter();
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > limits.bytes) throw tooLarge(limits.bytes);
      for (const line of cutter.push(chunk)) check.see(line);
      claim(chunk.length);
      for (let at = 0; at < chunk.length;) at += (await handle.write(chunk, at)).bytesWritten;
    }
    for (const line of cutter.rest()) check.see(line);
    check.end();
    await handle.sync();
    await handle.close();
    return bytes;
  } catch (error) {
    await handle.close();
    await rm(path, { force: true });
    throw error;
  }
}

/** A received content becomes that of a file. */
export const keepContent = (from: string, to: string): Promise<void> => rename(from, to);

export const tooLarge = (limit: number): SvcError => {
  const message = `The file is too large: this server takes files of at most ${limit / MB} MB (--max-file-mb).`;
  return new SvcError("payload_too_large", message, { param: "file" });
};

/** Every line is a JSON object, and there are not too many of them, nor none. */
class LineCheck {
  private count = 0;

  constructor(private readonly most: number) {}

  see(line: Line): void {
    if (isBlank(line)) return;
    if (++this.count > this.most) {
      throw refuse("invalid_value", `The file has more than ${this.most} lines, the limit set by --max-batch-lines.`);
    }
    const { number, bytes } = line;
    const size = `${bytes.length} bytes received`;
    if (deeperThan(DEEPEST_JSON, bytes)) {
      throw refuse("invalid_json", `Line ${number} of the file nests deeper than ${DEEPEST_JSON} levels (${size}).`);
    }
    let value: unknown;
    try {
      value = parseLine(line);
    } catch (error) {
      const what = error instanceof SyntaxError ? "valid JSON" : "valid UTF-8";
      throw refuse("invalid_json", `Line ${number} of the file is not ${what} (${size}).`);
    }
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
    throw refuse("invalid_json", `Line ${number} of the file must be a JSON object (${size}).`);
  }

  end(): void {
    if (this.count > 0) return;
    throw refuse("invalid_value", "The file is empty; it must have a JSON object on each line, and one at least.");
  }
}

const refuse = (code: "invalid_json" | "invalid_value", message: string) =>
  new SvcError(code, message, { param: "file" });
