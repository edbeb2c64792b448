// Parses JSON text in pieces, so that a large text does not block the event loop.

import { LONGEST_NUMBER } from "./json-bounds.ts";
import { nextTurn } from "./next-turn.ts";

/** Bytes to decode at a time. */
const WINDOW = 8 * 1024;

/** Texts up to this size are parsed at once. */
const SMALL_BYTES = 64 * 1024;
/** Bytes of a larger text to parse per turn of the event loop: a millisecond of work if its values are short. */
const PIECE_BYTES = 16 * 1024;

/**
 * Parses one JSON text that JsonBounds has checked; of a large text, `pieceBytes` each time that `turn` resolves.
 * Removes the chunks one by one. Throws TypeError when they are not UTF-8, SyntaxError when they are not JSON.
 */
export async function parseJson(
  chunks: Uint8Array[],
  turn: () => Promise<void> = nextTurn,
  pieceBytes = PIECE_BYTES,
): Promise<unknown> {
  if (chunks.reduce((sum, { length }) => sum + length, 0) <= SMALL_BYTES) return JSON.parse(textOf(chunks.splice(0)));
  const pieces = new JsonPieces();
  for (const piece of piecesOf(chunks, pieceBytes)) {
    await turn();
    pieces.push(piece);
  }
  return pieces.end();
}

const textOf = (chunks: Uint8Array[]): string =>
  new TextDecoder("utf-8", { fatal: true }).decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));

function* piecesOf(chunks: Uint8Array[], size: number): Generator<Uint8Array, void, void> {
  chunks.reverse();
  for (let chunk = chunks.pop(); chunk; chunk = chunks.pop()) {
    for (let at = 0; at < chunk.length; at += size) yield chunk.subarray(at, at + size);
  }
}

type Container = unknown[] | Record<string, unknown>;

/** The tokens that may come next. */
type Expected = "value" | "first item" | "name" | "first name" | "colon" | "comma" | "nothing";

const VALUE: ReadonlySet<Expected> = new Set(["value", "first item"]);
const NAME: ReadonlySet<Expected> = new Set(["name", "first name"]);
/** Characters of numbers, `true`, `false` and `null`. */
const WORD = /[-+.\w]*/y;

/** Parses one JSON text that JsonBounds has checked, with the same result as `JSON.parse`. */
export class JsonPieces {
  private readonly decoder = new TextDecoder("utf-8", { fatal: true });
  private expected: Expected = "value";
  private value: unknown;
  /** The open containers, each inside the one before, and the names of the members whose values are incomplete. */
  private readonly open: Container[] = [];
  private readonly names: string[] = [];
  /** The part read so far of a string or a word that continues in the next bytes. */
  private string: string | undefined;
  private word = "";
  /** The start of an escape sequence that continues in the next bytes. */
  private rest = "";

  /** Parses the next bytes. Throws TypeError when they are not UTF-8, SyntaxError when they are not JSON. */
  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += WINDOW) {
      this.read(this.rest + this.decoder.decode(bytes.subarray(at, at + WINDOW), { stream: true }));
    }
  }

  /** Returns the value at the end of the text. Throws like `push`, also when the text is incomplete. */
  end(): unknown {
    this.decoder.decode();
    this.endWord();
    if (this.expected !== "nothing" || this.string !== undefined) throw new SyntaxError("the text is not whole");
    return this.value;
  }

  private read(text: string): void {
    this.rest = "";
    let at = this.string === undefined ? 0 : this.readString(text, 0);
    while (at < text.length) at = this.readToken(text, at);
  }

  /** Reads the token, or a part of a token, at `at`; returns the index after it. */
  private readToken(text: string, at: number): number {
    WORD.lastIndex = at;
    WORD.test(text);
    const end = WORD.lastIndex;
    if (end > at) {
      this.word += text.slice(at, end);
      // JsonBounds looks only at numbers.
      if (this.word.length > LONGEST_NUMBER) throw new SyntaxError("a word of too many characters");
      return end;
    }
    this.endWord();
    const token = text[at] as string;
    switch (token) {
      case " ":
      case "\n":
      case "\r":
      case "\t":
        return at + 1;
      case '"':
        if (!VALUE.has(this.expected) && !NAME.has(this.expected)) throw new SyntaxError("a string where none may be");
        this.string = "";
        return this.readString(text, at + 1);
      case "[":
      case "{":
        this.begin(token === "[" ? [] : {}, token === "[" ? "first item" : "first name");
        return at + 1;
      case "]":
      case "}":
        this.close(token === "]");
        return at + 1;
      case ",":
        this.go("comma", Array.isArray(this.open.at(-1)) ? "value" : "name");
        return at + 1;
      case ":":
        this.go("colon", "value");
        return at + 1;
      default:
        throw new SyntaxError("a character that begins nothing");
    }
  }

  /** Reads the rest of the string that contains `at`; returns the index after it. */
  private readString(text: string, at: number): number {
    const quote = closingQuote(text, at);
    const end = quote ?? unfinishedEscape(text, at);
    // Appending does not copy: the runtime joins the parts when the string is first read.
    const string = (this.string ?? "") + (JSON.parse(`"${text.slice(at, end)}"`) as string);
    if (quote === undefined) {
      this.string = string;
      this.rest = text.slice(end);
      return text.length;
    }
    this.string = undefined;
    if (!NAME.has(this.expected)) this.give(string);
    else {
      this.names.push(string);
      this.expected = "colon";
    }
    return quote + 1;
  }

  private endWord(): void {
    if (this.word === "") return;
    const value: unknown = JSON.parse(this.word);
    this.word = "";
    this.give(value);
  }

  /** Adds a complete value to its container, or makes it the result. */
  private give(value: unknown): void {
    if (!VALUE.has(this.expected)) throw new SyntaxError("a value where none may be");
    const container = this.open.at(-1);
    if (container === undefined) this.value = value;
    else if (Array.isArray(container)) container.push(value);
    else setMember(container, this.names.pop() ?? "", value);
    this.expected = container === undefined ? "nothing" : "comma";
  }

  private begin(container: Container, expected: Expected): void {
    if (!VALUE.has(this.expected)) throw new SyntaxError("a value where none may be");
    this.open.push(container);
    this.expected = expected;
  }

  private close(isArray: boolean): void {
    const isWhole = this.expected === "comma" || this.expected === (isArray ? "first item" : "first name");
    const container = isWhole ? this.open.pop() : undefined;
    if (container === undefined || Array.isArray(container) !== isArray) throw new SyntaxError("an end of nothing");
    this.expected = "value";
    this.give(container);
  }

  private go(from: Expected, to: Expected): void {
    if (this.expected !== from) throw new SyntaxError(`${from} where none may be`);
    this.expected = to;
  }
}

/** Sets a member; also `__proto__`, which an assignment would take as the object's prototype. */
function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, configurable: true, enumerable: true, writable: true });
}

/** Returns the index of the quote that ends the string that contains `at`; undefined if it is not in this text. */
function closingQuote(text: string, at: number): number | undefined {
  for (let quote = text.indexOf('"', at); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    if (!isEscaped(text, quote, at)) return quote;
  }
  return undefined;
}

const UNFINISHED_ESCAPE = /^\\(?:u[\da-f]{0,3})?$/i;
const LONGEST_UNFINISHED = 5;

/** Returns where an escape sequence begins that the text cuts off; else the text's length. */
function unfinishedEscape(text: string, from: number): number {
  const at = text.lastIndexOf("\\");
  const begins = at >= Math.max(from, text.length - LONGEST_UNFINISHED) && UNFINISHED_ESCAPE.test(text.slice(at));
  return begins && !isEscaped(text, at, from) ? at : text.length;
}

/** Returns whether an odd number of backslashes precedes `at`, in a string whose part in this text begins at `from`. */
export function isEscaped(text: string, at: number, from = 0): boolean {
  let before = at;
  while (before > from && text[before - 1] === "\\") before--;
  return (at - before) % 2 === 1;
}
