// Limits how deeply a client's JSON may nest and how much it may contain. The size of the text does not bound that: 90
// MB of empty lists are gigabytes of values, which take seconds to parse.

/** Nesting depth. Real requests are far below this; chat templates recurse into each level on a native stack. */
const DEEPEST_JSON = 128;
/** Values in one text. They are counted by commas and opening brackets, so an empty container counts as two. */
export const MOST_JSON_VALUES = 1_000_000;
/** Member names in one text. Parsing a name that no other object has takes as long as twenty values. */
export const MOST_JSON_NAMES = 50_000;

/** Characters of one number. A number of megabytes would be parsed at once. */
export const LONGEST_NUMBER = 64 * 1024;

/** Bytes of memory for a value besides its text; SMALL_VALUE_BYTES: for a value without text, such as a number. */
export const VALUE_BYTES = 48;
const SMALL_VALUE_BYTES = 8;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const PLUS = 0x2b;
const NINE = 0x39;
const COLON = 0x3a;
/** Bytes of a string to read one by one before its end is searched: faster for short strings and many escapes. */
const SHORT_STRING = 64;

/** Returns about how many bytes of memory a JSON value takes, with everything in it. Does not read the texts. */
export function memoryOf(value: unknown): number {
  if (typeof value === "string") return VALUE_BYTES + value.length;
  if (typeof value !== "object" || value === null) return SMALL_VALUE_BYTES;
  // A container has capacity for some members; JsonBounds also counts an empty one as two values.
  let bytes = 2 * VALUE_BYTES;
  if (Array.isArray(value)) for (const one of value) bytes += memoryOf(one);
  else for (const [name, one] of Object.entries(value)) bytes += name.length + memoryOf(one);
  return bytes;
}

/** Checks the bytes of JSON as they arrive: of one text, or of several texts that share the limits. */
export class JsonBounds {
  constructor(
    private readonly mostValues = MOST_JSON_VALUES,
    private readonly mostNames = MOST_JSON_NAMES,
  ) {}

  /** Values counted so far. */
  values = 1;
  private depth = 0;
  private names = 0;
  private inString = false;
  /** Bytes of the number with which the bytes so far end. */
  private unended = 0;
  /** Whether the bytes so far end with a backslash in a string, which escapes the next byte. */
  private escaped = false;

  /** Whether the bytes so far end within a list, an object or a string. */
  get isOpen(): boolean {
    return this.depth > 0 || this.inString;
  }

  /** Starts another text. */
  next(): void {
    this.depth = 0;
    this.inString = false;
    this.unended = 0;
    this.escaped = false;
  }

  /** Reads more bytes. Returns the limit that the text exceeds, as a phrase to follow its name, or undefined. */
  push(bytes: Uint8Array): string | undefined {
    let { depth, values, names } = this;
    let deepest = depth;
    const start = this.inString ? this.skipString(bytes, 0) : 0;
    // Index of the last byte that belongs to no number, and the bytes of the longest number.
    let [ended, longest] = [start - 1 - this.unended, 0];
    for (let i = start; i < bytes.length && values <= this.mostValues; i++) {
      const at = i;
      const byte = bytes[i] as number;
      // Digits, signs and points; numbers with an exponent count as two.
      if (byte >= PLUS && byte <= NINE && byte !== COMMA) continue;
      switch (byte) {
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
      longest = Math.max(longest, at - ended - 1);
      ended = i;
    }
    const unended = bytes.length - 1 - ended;
    longest = Math.max(longest, unended);
    Object.assign(this, { depth, values, names, unended });
    if (deepest > DEEPEST_JSON) return `nests deeper than ${DEEPEST_JSON} levels`;
    if (values > this.mostValues) return `has more than ${this.mostValues} JSON values`;
    if (names > this.mostNames) return `has more than ${this.mostNames} names of members`;
    if (longest > LONGEST_NUMBER) return `has a number of more than ${LONGEST_NUMBER} characters`;
    return undefined;
  }

  /** Returns the index after the string that contains `at`, or after the last byte if the string does not end there. */
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
      // The string is long: a native search skips to the next quote.
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
