// Writes uploaded content straight to disk, within its limits, and checks it line by line on the way.

import { open, rm } from "node:fs/promises";
import type { ByteAccount, ByteBudget } from "../../domain/byte-budget.ts";
import { SvcError } from "../../domain/errors.ts";
import type { UploadPurpose } from "../../domain/file-purpose.ts";
import { isObject } from "../../domain/json.ts";
import { JsonBounds } from "../../domain/json-bounds.ts";
import { isBlank, LineCutter, LineTurns, parseLine, type Line } from "../../store/json-lines.ts";

export interface ContentLimits {
  readonly bytes: number;
  readonly lines: number;
}

const MB = 1024 * 1024;
/** The same limit as for the body of a request. */
const LONGEST_LINE = 100 * MB;
/** Most lines of a file in all, per line that may have a request: blank ones cost time as well. */
const BLANK_SHARE = 2;

interface ReceivedContent {
  readonly bytes: number;
  /** Without a purpose: why the content cannot be that of a batch; absent: it can. */
  readonly fault?: SvcError;
}

/**
 * Writes content to `path`, and checks it if it is for a batch, or may be: `purpose` is undefined if it comes later.
 * `claim` reserves space for each piece. Throws SvcError `payload_too_large`, `invalid_json` or `invalid_value` about
 * the content, `server_busy` when `budget` is used up, what the system throws, or what `chunks` or `claim` throws; then
 * nothing is left behind.
 */
export async function receiveContent(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  limits: ContentLimits,
  claim: (bytes: number) => void | Promise<void>,
  budget: ByteBudget,
  purpose: UploadPurpose | undefined,
): Promise<ReceivedContent> {
  const handle = await open(path, "wx", 0o600);
  const account = budget.open();
  try {
    let bytes = 0;
    let lines = purpose === "ocr" ? undefined : new CheckedLines(limits.lines, account);
    let fault: SvcError | undefined;
    const checking = async (work: (checked: CheckedLines) => Promise<void>): Promise<void> => {
      if (!lines) return;
      try {
        await work(lines);
      } catch (error) {
        if (purpose || !isAboutFile(error)) throw error;
        fault = error;
        lines = undefined;
        account.hold(0);
      }
    };
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > limits.bytes) throw tooLarge(limits.bytes);
      await checking((checked) => checked.push(chunk));
      await claim(chunk.length);
      for (let at = 0; at < chunk.length;) at += (await handle.write(chunk, at)).bytesWritten;
    }
    await checking((checked) => checked.end());
    await handle.sync();
    await handle.close();
    return { bytes, ...(fault && { fault }) };
  } catch (error) {
    await handle.close();
    await rm(path, { force: true });
    throw error;
  } finally {
    account.close();
  }
}

const isAboutFile = (error: unknown): error is SvcError => error instanceof SvcError && error.details.param === "file";

export const tooLarge = (limit: number): SvcError => {
  const message = `The file is too large: this server takes files of at most ${limit / MB} MiB (--max-file-mb).`;
  return new SvcError("payload_too_large", message, { param: "file" });
};

/**
 * Checks that every line is a JSON object of limited size, and that there is at least one line and not too many. The
 * account holds the memory of the line being received.
 */
class CheckedLines {
  private readonly cutter = new LineCutter((piece, number) => this.account.hold(this.look(piece, number)));
  private count = 0;
  /** Number of the line being received, and its bytes so far. */
  private number = 0;
  private size = 0;
  private bounds = new JsonBounds();
  private readonly turns = new LineTurns();

  constructor(
    private readonly most: number,
    private readonly account: ByteAccount,
  ) {}

  async push(chunk: Uint8Array): Promise<void> {
    for (const line of this.cutter.push(chunk)) await this.see(line);
  }

  async end(): Promise<void> {
    for (const line of this.cutter.rest()) await this.see(line);
    if (this.count > 0) return;
    throw refuse("invalid_value", "The file is empty; it must have at least one line, with a JSON object on each.");
  }

  /** Checks the next piece of a line; returns the bytes of the line so far. */
  private look(piece: Uint8Array, number: number): number {
    if (number !== this.number) Object.assign(this, { number, size: 0, bounds: new JsonBounds() });
    this.size += piece.length;
    if (this.size > LONGEST_LINE) {
      const message = `Line ${number} of the file is too long: a line may have at most ${LONGEST_LINE / MB} MiB.`;
      throw new SvcError("payload_too_large", message, { param: "file" });
    }
    const excess = this.bounds.push(piece);
    if (excess) throw refuse("invalid_json", `Line ${number} of the file ${excess}.`);
    return this.size;
  }

  private async see(line: Line): Promise<void> {
    await this.turns.enter(line);
    const { number, pieces, length } = line;
    if (number > BLANK_SHARE * this.most) {
      const most = `${BLANK_SHARE * this.most} lines, blank ones included`;
      throw refuse("invalid_value", `The file has more than ${most}; --max-batch-lines is ${this.most}.`);
    }
    if (isBlank(line) || !pieces) return;
    if (++this.count > this.most) {
      throw refuse("invalid_value", `The file has more than ${this.most} lines, the limit set by --max-batch-lines.`);
    }
    const size = `${length} bytes received`;
    let value: unknown;
    try {
      value = await parseLine(pieces);
    } catch (error) {
      const what = error instanceof SyntaxError ? "valid JSON" : "valid UTF-8";
      throw refuse("invalid_json", `Line ${number} of the file is not ${what} (${size}).`);
    }
    if (isObject(value)) return;
    throw refuse("invalid_json", `Line ${number} of the file must be a JSON object (${size}).`);
  }
}

const refuse = (code: "invalid_json" | "invalid_value", message: string) =>
  new SvcError(code, message, { param: "file" });
