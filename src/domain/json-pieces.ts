// JSON text that is parsed in pieces, so that a large one does not stop others. What is inside long strings, as images are, is
// decoded as it comes, and parsing the rest is short.

import { JsonBounds } from "./json-bounds.ts";

/** Bytes that are decoded at once; a string that fills as many is a long one. */
const WINDOW = 8 * 1024;

/** A text up to this size is parsed at once. */
const SMALL_BYTES = 64 * 1024;
/** Bytes of a larger one that are parsed in one turn of the event loop: two milliseconds of work at most, of escapes. */
const PIECE_BYTES = 32 * 1024;

/**
 * Parses one JSON text that is within its bounds; of a large one a piece each time that `turn` resolves. The chunks are given
 * up one after the other. Throws TypeError when they are no UTF-8, SyntaxError when they are no JSON.
 */
export async function parseJson(chunks: Uint8Array[], turn: () => Promise<void> = nextTurn): Promise<unknown> {
  if (chunks.reduce((sum, { length }) => sum + length, 0) <= SMALL_BYTES) return JSON.parse(textOf(chunks.splice(0)));
  const pieces = new JsonPieces();
  for (const piece of piecesOf(chunks)) {
    await turn();
    pieces.push(piece);
  }
  await turn();
  return pieces.parse();
}

const textOf = (chunks: Uint8Array[]): string =>
  new TextDecoder("utf-8", { fatal: true }).decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

function* piecesOf(chunks: Uint8Array[]): Generator<Uint8Array, void, void> {
  chunks.reverse();
  for (let chunk = chunks.pop(); chunk; chunk = chunks.pop()) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) yield chunk.subarray(at, at + PIECE_BYTES);
  }
}

/** Reads one JSON text that is within its bounds. */
export class JsonPieces {
  private readonly bounds = new JsonBounds();
  private readonly decoder = new TextDecoder("utf-8", { fatal: true });
  /** The text, where of a long string, which may be a name, only its ends and a mark are left. */
  private readonly texts: string[] = [];
  private readonly long: string[] = [];
  /** Stands before the number of a long string; nobody can write it who does not know it. */
  private readonly mark = `${crypto.randomUUID()}:`;
  private isInLong = false;
  /** The beginning of an escape sequence that goes on in what comes next. */
  private rest = "";

  /** Takes the next bytes in. Throws TypeError when they are no UTF-8, and SyntaxError when they are no JSON. */
  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += WINDOW) {
      const window = bytes.subarray(at, at + WINDOW);
      this.bounds.push(window);
      // What is short may be a name, and names have to be together when equal ones are looked for.
      const isLong = this.bounds.isInside && (this.isInLong || window.length === WINDOW);
      this.add(this.rest + this.decoder.decode(window, { stream: true }), isLong);
    }
  }

  /** The value, once all of the text is there. Throws as `push` does. */
  parse(): unknown {
    this.texts.push(this.rest, this.decoder.decode());
    const value: unknown = JSON.parse(this.texts.join(""));
    return this.long.length > 0 ? this.whole(value) : value;
  }

  private add(text: string, isLong: boolean): void {
    const end = unfinishedEscape(text);
    this.rest = text.slice(end);
    const finished = text.slice(0, end);
    if (!isLong) {
      this.isInLong = false;
      this.texts.push(finished);
      return;
    }
    const part: string = JSON.parse(`"${finished}"`);
    if (!this.isInLong) this.texts.push(`${this.mark}${this.long.push("") - 1}:`);
    this.isInLong = true;
    // Appending is no copying: they become one string when somebody looks into it.
    this.long[this.long.length - 1] += part;
  }

  /** The value with its long strings where their marks are. */
  private whole(value: unknown): unknown {
    if (typeof value === "string") return this.unmarked(value);
    if (Array.isArray(value)) for (const [index, item] of value.entries()) value[index] = this.whole(item);
    else if (typeof value === "object" && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [this.unmarked(name), this.whole(item)]));
    }
    return value;
  }

  private unmarked(text: string): string {
    const at = text.indexOf(this.mark);
    if (at < 0) return text;
    const start = at + this.mark.length;
    const end = text.indexOf(":", start);
    return text.slice(0, at) + this.long[Number(text.slice(start, end))] + text.slice(end + 1);
  }
}

const UNFINISHED_ESCAPE = /^\\(?:u[\da-f]{0,3})?$/i;
const LONGEST_UNFINISHED = 5;

/** Where an escape sequence begins that goes on behind the text; else the text's length. */
function unfinishedEscape(text: string): number {
  const at = text.lastIndexOf("\\");
  if (at < text.length - LONGEST_UNFINISHED || !UNFINISHED_ESCAPE.test(text.slice(at))) return text.length;
  let before = at;
  while (text[before - 1] === "\\") before--;
  return (at - before) % 2 === 0 ? at : text.length;
}
