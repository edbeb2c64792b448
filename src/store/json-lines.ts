// Splits chunks of bytes into the lines of JSON Lines.

import { parseJson } from "../domain/json-pieces.ts";
import { TurnLimit } from "../domain/turn-limit.ts";

export interface Line {
  /** Line number, from 1; empty lines count. */
  readonly number: number;
  /** The line without its newline; valid until the next line is requested. */
  readonly bytes: Uint8Array;
  /** Bytes from the start of the text to the end of the line, including its newline. */
  readonly end: number;
  /** Whether a newline ends the line; false only for an incomplete last line. */
  readonly terminated: boolean;
}

const NEWLINE = 0x0a;
/** Bytes of lines to process per turn of the event loop: a few milliseconds of work if the lines are short. */
const TURN_BYTES = 64 * 1024;
const MARK = [0xef, 0xbb, 0xbf];

/** Splits chunks into lines. */
export class LineCutter {
  private readonly parts: Uint8Array[] = [];
  private number = 0;
  private end = 0;

  /** `look` is called with each piece of a line and the line's number, before the line is complete. */
  constructor(private readonly look: (piece: Uint8Array, number: number) => void = () => {}) {}

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
    if (this.parts.length > 0) yield this.take(false);
  }

  private add(piece: Uint8Array): void {
    this.look(piece, this.number + 1);
    this.parts.push(piece);
  }

  private take(terminated: boolean): Line {
    const bytes = this.parts.length === 1 && this.parts[0] ? this.parts[0] : Buffer.concat(this.parts);
    this.parts.length = 0;
    this.number++;
    this.end += bytes.length + Number(terminated);
    const marked = this.number === 1 && MARK.every((byte, at) => bytes[at] === byte);
    return { number: this.number, bytes: marked ? bytes.subarray(3) : bytes, end: this.end, terminated };
  }
}

/** Limits the bytes of lines per turn: there may be 50,000 lines, and reading a file does not yield by itself. */
export const lineTurns = () => new TurnLimit(TURN_BYTES);

/** Emits the lines of a stream, with one in memory at a time. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Line, void, void> {
  const cutter = new LineCutter();
  const turns = lineTurns();
  for await (const chunk of chunks) {
    for (const line of cutter.push(chunk)) {
      await turns.enter(line.bytes.length);
      yield line;
    }
  }
  yield* cutter.rest();
}

/** Returns whether a line has only white space. */
export const isBlank = ({ bytes }: Line): boolean =>
  bytes.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09);

/** Parses a line within JSON's limits. Throws TypeError about invalid UTF-8, SyntaxError about invalid JSON. */
export const parseLine = ({ bytes }: Line): Promise<unknown> => parseJson([bytes]);
