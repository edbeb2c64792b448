// Splits chunks of bytes into the lines of JSON Lines, and reads files of them within a limit of memory.

import { parseJson } from "../domain/json-pieces.ts";
import type { Semaphore } from "../domain/semaphore.ts";
import { TurnLimit } from "../domain/turn-limit.ts";

export interface Line {
  /** Line number, from 1; empty lines count. */
  readonly number: number;
  /**
   * The line without its newline, in pieces, and in one if it is short: joining 90 MB takes 60 ms. Valid until the next
   * line is requested. Absent if the line is longer than is kept.
   */
  readonly pieces?: readonly Uint8Array[];
  /** Number of these bytes. */
  readonly length: number;
  /** Bytes from the start of the text to the end of the line, including its newline. */
  readonly end: number;
  /** Whether a newline ends the line; false only for an incomplete last line. */
  readonly terminated: boolean;
}

const NEWLINE = 0x0a;
/** Bytes of lines to process per turn of the event loop, a few milliseconds of work, and what a line costs besides. */
const TURN_BYTES = 64 * 1024;
const LINE_BYTES = 64;
/** Bytes up to which a line of a file is in memory as soon as it is found. */
const SHORT = 2 ** 20;
const MARK = [0xef, 0xbb, 0xbf];

/** Splits chunks into lines. */
export class LineCutter {
  private readonly parts: Uint8Array[] = [];
  private length = 0;
  private number = 0;
  private end = 0;

  /**
   * `look` is called with each piece of a line and the line's number, before the line is complete. `longest`: most bytes
   * of a line that are kept.
   */
  constructor(
    private readonly look: (piece: Uint8Array, number: number) => void = () => {},
    private readonly longest = Infinity,
  ) {}

  /** Emits the lines that end in this chunk. */
  *push(chunk: Uint8Array): Generator<Line, void, void> {
    let start = 0;
    for (let stop = chunk.indexOf(NEWLINE); stop >= 0; stop = chunk.indexOf(NEWLINE, start)) {
      this.add(chunk.subarray(start, stop));
      yield this.take(true);
      start = stop + 1;
    }
    // A copy, unlike a Buffer's slice: the caller may reuse the chunk's memory.
    if (start < chunk.length) this.add(new Uint8Array(chunk.subarray(start)));
  }

  /** Emits the incomplete last line, if any. */
  *rest(): Generator<Line, void, void> {
    if (this.length > 0) yield this.take(false);
  }

  private add(piece: Uint8Array): void {
    this.look(piece, this.number + 1);
    this.length += piece.length;
    if (this.length <= this.longest) this.parts.push(piece);
    else this.parts.length = 0;
  }

  private take(terminated: boolean): Line {
    const { length, longest } = this;
    const parts = this.parts.splice(0);
    this.length = 0;
    this.number++;
    this.end += length + Number(terminated);
    const line = { number: this.number, length, end: this.end, terminated };
    if (length > longest) return line;
    const pieces = parts.length > 1 && length <= SHORT ? [Buffer.concat(parts)] : parts;
    if (this.number === 1 && pieces[0]) pieces[0] = withoutMark(pieces[0]);
    return { ...line, pieces };
  }
}

const withoutMark = (bytes: Uint8Array): Uint8Array =>
  MARK.every((byte, at) => bytes[at] === byte) ? bytes.subarray(MARK.length) : bytes;

/** Limits the lines per turn: there may be 50,000, and reading a file does not yield by itself. */
export class LineTurns {
  private readonly turns = new TurnLimit(TURN_BYTES);

  /** Like `TurnLimit.enter`. */
  enter({ length }: Line): Promise<void> | undefined {
    return this.turns.enter(length + LINE_BYTES);
  }
}

/** Emits the lines of a stream, with one in memory at a time. `longest`: most bytes of a line that are kept. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, longest?: number): AsyncGenerator<Line, void, void> {
  const cutter = new LineCutter(undefined, longest);
  const turns = new LineTurns();
  for await (const chunk of chunks) {
    for (const line of cutter.push(chunk)) {
      await turns.enter(line);
      yield line;
    }
  }
  yield* cutter.rest();
}

/** Returns whether a line has only white space, and not a megabyte of it. */
export const isBlank = ({ pieces, length }: Line): boolean =>
  length <= SHORT && pieces?.every((piece) => piece.every(isSpace)) === true;

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0d || byte === 0x09;

/** Parses a line within JSON's limits. Throws TypeError about invalid UTF-8, SyntaxError about invalid JSON. */
export const parseLine = (pieces: readonly Uint8Array[]): Promise<unknown> => parseJson([...pieces]);

/** Returns whether an error of `parseLine` is about the line, rather than about reading it. */
export const isBadJson = (error: unknown): boolean => error instanceof SyntaxError || error instanceof TypeError;

/** A file of JSON Lines, whose long lines are in memory only while they are used. */
export class LinesFile {
  /** `memory`: for the long lines of several files. */
  constructor(
    private readonly path: string,
    private readonly memory: Semaphore,
  ) {}

  lines(): AsyncGenerator<Line, void, void> {
    return linesOf(Bun.file(this.path).stream(), SHORT);
  }

  /**
   * Runs `use` with the value of a line, once there is memory for it. Throws as `parseLine` does, what the system and
   * `use` throw, or the signal's reason.
   */
  async read<T>(line: Line, signal: AbortSignal, use: (value: unknown) => T | Promise<T>): Promise<T> {
    if (line.pieces) return use(await parseLine(line.pieces));
    const { length, end, terminated, number } = line;
    const stop = end - Number(terminated);
    return this.memory
      .run(length, signal, async () => {
        const bytes = await Bun.file(this.path)
          .slice(stop - length, stop)
          .bytes();
        return use(await parseLine([number === 1 ? withoutMark(bytes) : bytes]));
      })
      .finally(() => Bun.gc(false));
  }
}
