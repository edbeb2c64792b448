// JSON text that is parsed in pieces, so that a large one does not stop others.

import { nextTurn } from "./next-turn.ts";

/** Bytes that are decoded at once. */
const WINDOW = 8 * 1024;

/** A text up to this size is parsed at once. */
const SMALL_BYTES = 64 * 1024;
/** Bytes of a larger one that are parsed in one turn of the event loop: a millisecond of work, where its values are short. */
const PIECE_BYTES = 16 * 1024;

/**
 * Parses one JSON text that is within its bounds; of a large one so many bytes each time that `turn` resolves. The chunks are
 * given up one after the other. Throws TypeError when they are no UTF-8, SyntaxError when they are no JSON.
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

/** What may come next. */
type Expected = "value" | "first item" | "name" | "first name" | "colon" | "comma" | "nothing";

const VALUE: ReadonlySet<Expected> = new Set(["value", "first item"]);
const NAME: ReadonlySet<Expected> = new Set(["name", "first name"]);
/** Of numbers, `true`, `false` and `null`. */
const WORD = /[-+.\w]*/y;
/** A number of megabytes would be read at once. */
const LONGEST_WORD = 64 * 1024;

/** Reads one JSON text that is within its bounds, and makes of it what `JSON.parse` makes. */
export class JsonPieces {
  private readonly decoder = new TextDecoder("utf-8", { fatal: true });
  private expected: Expected = "value";
  private value: unknown;
  /** The containers that are not whole, each in the one before, and the names of the members that are not. */
  private readonly open: Container[] = [];
  private readonly names: string[] = [];
  /** Of the string, or of the word, that goes on in what comes next. */
  private string: string | undefined;
  private word = "";
  /** The beginning of an escape sequence that does. */
  private rest = "";

  /** Takes the next bytes in. Throws TypeError when they are no UTF-8, and SyntaxError when they are no JSON. */
  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += WINDOW) {
      this.read(this.rest + this.decoder.decode(bytes.subarray(at, at + WINDOW), { stream: true }));
    }
  }

  /** The value, once all of the text is there. Throws as `push` does. */
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

  /** Where to go on behind the token, or the part of one, at `at`. */
  private readToken(text: string, at: number): number {
    WORD.lastIndex = at;
    WORD.test(text);
    const end = WORD.lastIndex;
    if (end > at) {
      this.word += text.slice(at, end);
      if (this.word.length > LONGEST_WORD) throw new SyntaxError("a number of too many digits");
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

  /** Where to go on behind the string that `at` is in. */
  private readString(text: string, at: number): number {
    const quote = closingQuote(text, at);
    const end = quote ?? unfinishedEscape(text, at);
    // Appending is no copying: they become one string when somebody looks into it.
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

  /** A value is whole: of the container that it is in, or all there is. */
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

/** Also where an object is told its prototype by an assignment. */
function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, configurable: true, enumerable: true, writable: true });
}

/** Where the string ends that `at` is in; undefined: not in this text. */
function closingQuote(text: string, at: number): number | undefined {
  for (let quote = text.indexOf('"', at); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    if (!isEscaped(text, quote, at)) return quote;
  }
  return undefined;
}

const UNFINISHED_ESCAPE = /^\\(?:u[\da-f]{0,3})?$/i;
const LONGEST_UNFINISHED = 5;

/** Where an escape sequence begins that goes on behind the text; else the text's length. */
function unfinishedEscape(text: string, from: number): number {
  const at = text.lastIndexOf("\\");
  const begins = at >= Math.max(from, text.length - LONGEST_UNFINISHED) && UNFINISHED_ESCAPE.test(text.slice(at));
  return begins && !isEscaped(text, at, from) ? at : text.length;
}

/** Whether an odd number of backslashes stands right before `at`, of a string whose part in the text begins at `from`. */
function isEscaped(text: string, at: number, from: number): boolean {
  let before = at;
  while (before > from && text[before - 1] === "\\") before--;
  return (at - before) % 2 === 1;
}
