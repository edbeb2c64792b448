// Splits text into words and marks as spaCy does for English: known special cases first, then marks at the ends of what
// stands between spaces, then marks inside it. Finally joins neighbours that form a special case: "Sept", ".".

import { escapeRegExp, LETTER, LOWER, SPACE, UPPER, WORD } from "./characters.ts";

const QUOTES = "'\"”“`‘´’‚,„»«「」『』（）〔〕【】《》〈〉";
const MARKS = "…,:;!?¿¡()[]{}<>_#*&。？！，、；：～·";
const ICONS = "™®©°§¶†‡•";
const CURRENCIES = String.raw`\$|£|€|¥|฿|US\$|C\$|A\$|₽|₹|₩|₪|₺|₴|₦|₫|₱|₲|₵|₸|₼|₾|₿`;
const UNITS =
  "km|km²|km³|m|m²|m³|dm|dm²|dm³|cm|cm²|cm³|mm|mm²|mm³|ha|µm|nm|yd|in|ft|kg|g|mg|µg|t|lb|oz|m/s|km/h" +
  "|kmh|mph|hPa|Pa|mbar|mb|MB|kb|KB|gb|GB|tb|TB|T|G|M|K|%";

const [MARK, QUOTE] = [escapeRegExp(MARKS), escapeRegExp(QUOTES)];

const PREFIX = new RegExp(String.raw`^(?:[§%=—–${MARK}${QUOTE}${ICONS}]|\+(?![0-9])|\.\.+|${CURRENCIES})`, "u");
const SUFFIX = new RegExp(
  String.raw`(?:[—–${MARK}${QUOTE}${ICONS}]|\.\.+|['’][sS]|(?<=[0-9])(?:\+|${CURRENCIES}|${UNITS})|(?<=°[FfCcKk])\.` +
    String.raw`|(?<=[0-9${LOWER}%²\-+${MARK}${QUOTE}])\.|(?<=[${UPPER}][${UPPER}])\.)$`,
  "u",
);
const INFIX = new RegExp(
  String.raw`\.\.+|[…${ICONS}]|(?<=[0-9])[+\-*^](?=[0-9\-])|(?<=[${LOWER}${QUOTE}])\.(?=[${UPPER}${QUOTE}])` +
    String.raw`|(?<=[${LETTER}]),(?=[${LETTER}])|(?<=[\p{L}\p{N}])(?:[-–—~]|--|---|——|[:<>=/])(?=[${LETTER}])`,
  "gu",
);
const NOT_SPACE = `[^${SPACE}]`;
const ADDRESS = new RegExp(
  String.raw`^(?:(?:https?|ftp)://|www\.)${NOT_SPACE}+$|^[${WORD}.+\-]+@[${WORD}\-]+(?:\.[${WORD}\-]+)+$` +
    String.raw`|^(?:[${WORD}\-]+\.)+(?:com|org|net|edu|gov|io|co|uk|de|fr|info|biz|us|ca|au|tv|me|ly|ai)(?:/${NOT_SPACE}*)?$`,
  "iu",
);
/** Splits text without spaces into pieces of 256 characters: no word is longer, and the work stays linear. */
const CHUNK = new RegExp(`${NOT_SPACE}{1,256}`, "gu");
/** More than the longest suffix with the characters that must precede it. */
const SUFFIX_REACH = 16;

/** A word or mark, and whether white space follows. */
type Piece = readonly [text: string, spaceAfter: boolean];

export class Tokenizer {
  private readonly special: ReadonlyMap<string, readonly string[]>;

  /** `special`: words that the rules would split wrongly, with their pieces. */
  constructor(special: Readonly<Record<string, readonly string[]>>) {
    this.special = new Map(Object.entries(special));
  }

  split(text: string): Piece[] {
    return Array.from(text.matchAll(CHUNK)).flatMap(({ 0: chunk, index }) => {
      const pieces = this.chunk(chunk);
      const isLast = index + chunk.length === text.length;
      return pieces.map((piece, at): Piece => [piece, at === pieces.length - 1 && !isLast]);
    });
  }

  private chunk(chunk: string): readonly string[] {
    const whole = this.special.get(chunk);
    if (whole !== undefined) return whole;
    const before: string[] = [];
    const after: string[] = [];
    let rest = chunk;
    for (let length = -1; rest !== "" && rest.length !== length && !this.special.has(rest);) {
      length = rest.length;
      const prefix = PREFIX.exec(rest)?.[0] ?? "";
      const unprefixed = rest.slice(prefix.length);
      if (prefix !== "" && this.special.has(unprefixed)) {
        before.push(prefix);
        rest = unprefixed;
        break;
      }
      const suffix = suffixOf(unprefixed);
      const unsuffixed = rest.slice(0, rest.length - suffix.length);
      if (suffix !== "" && this.special.has(unsuffixed)) {
        after.push(suffix);
        rest = unsuffixed;
        break;
      }
      if (prefix !== "") before.push(prefix);
      if (suffix !== "") after.push(suffix);
      rest = unprefixed.slice(0, unprefixed.length - suffix.length);
    }
    const pieces = [...before, ...this.middle(rest), ...after.reverse()];
    return pieces.length > 1 ? this.rejoin(pieces) : pieces;
  }

  private middle(text: string): readonly string[] {
    if (text === "") return [];
    const special = this.special.get(text);
    if (special !== undefined) return special;
    if (ADDRESS.test(text)) return [text];
    const pieces: string[] = [];
    let start = 0;
    for (const { 0: mark, index } of text.matchAll(INFIX)) {
      if (index === 0) continue;
      if (index > start) pieces.push(text.slice(start, index));
      pieces.push(mark);
      start = index + mark.length;
    }
    return start < text.length ? [...pieces, text.slice(start)] : pieces;
  }

  private rejoin(pieces: readonly string[]): string[] {
    const result: string[] = [];
    for (let at = 0; at < pieces.length;) {
      const length = [3, 2].find(
        (count) => at + count <= pieces.length && this.special.has(pieces.slice(at, at + count).join("")),
      );
      const own = pieces.slice(at, at + (length ?? 1));
      result.push(...(length === undefined ? own : (this.special.get(own.join("")) ?? own)));
      at += own.length;
    }
    return result;
  }
}

/** Returns the mark at the end of `text`, which may be any number of dots. */
function suffixOf(text: string): string {
  let dots = 0;
  while (text[text.length - 1 - dots] === ".") dots += 1;
  return SUFFIX.exec(text.slice(-(dots + SUFFIX_REACH)))?.[0] ?? "";
}
