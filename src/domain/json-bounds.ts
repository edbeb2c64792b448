// How deep JSON may nest that clients send, and how much may be in it. Its text alone does not bound it: 90 MB of empty
// lists are gigabytes of values, which take seconds to parse.

/** Containers inside one another. Real requests stay far below; templates read them level by level on a native stack. */
const DEEPEST_JSON = 128;
/** Values in one text, an empty container being two: they are counted by commas and opening brackets. */
export const MOST_JSON_VALUES = 1_000_000;
/** Names of members in one text. One that no other object has takes as long as twenty values. */
export const MOST_JSON_NAMES = 50_000;

/** What a value takes in memory beside its text, and one that is no text and holds none. */
export const VALUE_BYTES = 48;
const SMALL_VALUE_BYTES = 8;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
/** How much of a string is read byte by byte before its end is searched: for short ones, and for many escapes, faster. */
const SHORT_STRING = 64;

/** Bytes that a value of JSON takes in memory, about: those of its texts, and of what is in it. Its texts are not read. */
export function memoryOf(value: unknown): number {
  if (typeof value === "string") return VALUE_BYTES + value.length;
  if (typeof value !== "object" || value === null) return SMALL_VALUE_BYTES;
  // What holds others has room for some, as it is counted here for those that are read.
  let bytes = 2 * VALUE_BYTES;
  if (Array.isArray(value)) for (const one of value) bytes += memoryOf(one);
  else for (const [name, one] of Object.entries(value)) bytes += name.length + memoryOf(one);
  return bytes;
}

/** Reads the bytes of JSON as they come: of one text, or of several that are bounded together. */
export class JsonBounds {
  constructor(
    private readonly mostValues = MOST_JSON_VALUES,
    private readonly mostNames = MOST_JSON_NAMES,
  ) {}

  /** Of what came so far, as they are counted here. */
  values = 1;
  private depth = 0;
  private names = 0;
  private inString = false;
  /** The bytes so far end with a backslash in a string, which takes the next byte with it. */
  private escaped = false;

  /** What comes next is another text. */
  next(): void {
    this.depth = 0;
    this.inString = false;
    this.escaped = false;
  }

  /** Reads on. What is too much about the text so far, to follow its name in a message; undefined when nothing is. */
  push(bytes: Uint8Array): string | undefined {
    let { depth, values, names } = this;
    let deepest = depth;
    const start = this.inString ? this.skipString(bytes, 0) : 0;
    for (let i = start; i < bytes.length && values <= this.mostValues; i++) {
      switch (bytes[i]) {
        case QUOTE:
          i = this.skipString(bytes, i + 1) - 1;
          break;
        case COMMA:
          values++;
          break;
        case COLON:
          names++;
          break;
        case 0x5b: // [
        case 0x7b: // {
          values++;
          if (++depth > deepest) deepest = depth;
          break;
        case 0x5d: // ]
        case 0x7d: // }
          depth--;
      }
    }
    Object.assign(this, { depth, values, names });
    if (deepest > DEEPEST_JSON) return `nests deeper than ${DEEPEST_JSON} levels`;
    if (values > this.mostValues) return `has more than ${this.mostValues} JSON values`;
    if (names > this.mostNames) return `has more than ${this.mostNames} names of members`;
    return undefined;
  }

  /** Where the string that `at` is in has its end, or the bytes have theirs. */
  private skipString(bytes: Uint8Array, at: number): number {
    let i = this.escaped ? at + 1 : at;
    this.escaped = false;
    this.inString = true;
    while (i < bytes.length) {
      for (const short = Math.min(i + SHORT_STRING, bytes.length); i < short; i++) {
        if (bytes[i] === BACKSLASH) i++;
        else if (bytes[i] === QUOTE) {
          this.inString = false;
          return i + 1;
        }
      }
      if (i >= bytes.length) break;
      // A long one: whatever has no quote in it is read natively.
      const quote = bytes.indexOf(QUOTE, i);
      const end = quote < 0 ? bytes.length : quote;
      let plain = end;
      while (plain > i && bytes[plain - 1] === BACKSLASH) plain--;
      const isEscaped = (end - plain) % 2 === 1;
      i = isEscaped ? end + 1 : end;
    }
    this.escaped = i > bytes.length;
    return bytes.length;
  }
}
