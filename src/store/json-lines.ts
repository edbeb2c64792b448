// Bytes as lines of JSON Lines, however they come cut.

import { parseJson } from "../domain/json-pieces.ts";
import { TurnLimit } from "../domain/turn-limit.ts";

export interface Line {
  /** The first is 1; empty ones count. */
  readonly number: number;
  /** Without its end; good until the next line is asked for. */
  readonly bytes: Uint8Array;
  /** Bytes from the start of the text to behind the line's end. */
  readonly end: number;
  /** Something ends it; false only for a last line that stops in the middle. */
  readonly terminated: boolean;
}

const NEWLINE = 0x0a;
/** Bytes of lines that are dealt with in one turn: a few milliseconds of work, where they are short. */
const TURN_BYTES = 64 * 1024;
const MARK = [0xef, 0xbb, 0xbf];

/** Cuts chunks into lines. */
export class LineCutter {
  private readonly parts: Uint8Array[] = [];
  private number = 0;
  private end = 0;

  /** `look` sees every line piece by piece, with its number, before it is there as a whole. */
  constructor(private readonly look: (piece: Uint8Array, number: number) => void = () => {}) {}

  /** The lines that end in this chunk. */
  *push(chunk: Uint8Array): Generator<Line, void, void> {
    let start = 0;
    for (let stop = chunk.indexOf(NEWLINE); stop >= 0; stop = chunk.indexOf(NEWLINE, start)) {
      this.add(chunk.subarray(start, stop));
      yield this.take(true);
      start = stop + 1;
    }
    // A copy, which a Buffer's own slice is not: who gave the chunk may use its memory again.
    if (start < chunk.length) this.add(new Uint8Array(chunk.subarray(start)));
  }

  /** What is behind the last line's end, if anything. */
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

/** For lines, by their bytes: there may be 50,000 of them, and a file is read without waiting. */
export const lineTurns = () => new TurnLimit(TURN_BYTES);

/** The lines of a stream, one in memory at a time. */
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

/** Whether there is nothing but white space in a line. */
export const isBlank = ({ bytes }: Line): boolean =>
  bytes.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09);

/** The JSON of a line within the bounds of JSON; throws TypeError when it is no UTF-8 and SyntaxError when it is no JSON. */
export const parseLine = ({ bytes }: Line): Promise<unknown> => parseJson([bytes]);
