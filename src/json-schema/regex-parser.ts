// Parses ECMA-262 regular expressions, and the anchors `\A`, `\z` and `\Z`, into syntax trees.

import { CLASS_ESCAPES, complement, DOT, MAX_CODE_POINT, single, union, type CharSet } from "./char-set.ts";
import type { Regex } from "./regex.ts";

const MAX_LENGTH = 4_000;
const MAX_GROUPS = 32;
const CONTROL_ESCAPES: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 };
const EMPTY: Regex = { kind: "sequence", items: [] };

/** Thrown within this file for features that a grammar cannot express: lookaround, backreferences, `\b`, `\B`, `\p`. */
class Unsupported extends Error {}

/**
 * Returns whether `source` is a valid expression. JSON Schema requires Unicode mode; many authors write without it. One
 * that is too long to be used passes: checking many named groups takes minutes.
 */
export function isRegex(source: string): boolean {
  if (source.length > MAX_LENGTH) return true;
  return ["u", ""].some((flags) => {
    try {
      return new RegExp(source, flags) instanceof RegExp;
    } catch {
      return false;
    }
  });
}

/** Returns the tree of a valid regular expression, or undefined when it uses features that cannot be expressed. */
export function parseRegex(source: string): Regex | undefined {
  if (source.length > MAX_LENGTH) return undefined;
  try {
    return new Parser(source).parse();
  } catch (error) {
    if (error instanceof Unsupported) return undefined;
    throw error;
  }
}

class Parser {
  private readonly input: readonly string[];
  private at = 0;
  private depth = 0;

  constructor(source: string) {
    this.input = [...source];
  }

  parse(): Regex {
    const regex = this.choice();
    if (this.at < this.input.length) throw new Unsupported();
    return regex;
  }

  private choice(): Regex {
    if (++this.depth > MAX_GROUPS) throw new Unsupported();
    const items = [this.sequence()];
    while (this.take("|")) items.push(this.sequence());
    this.depth--;
    return items.length === 1 ? (items[0] ?? EMPTY) : { kind: "choice", items };
  }

  private sequence(): Regex {
    const items: Regex[] = [];
    while (this.at < this.input.length && !this.sees("|") && !this.sees(")")) {
      const item = this.atom();
      const range = this.quantifier();
      if (range && (item.kind === "start" || item.kind === "end")) throw new Unsupported();
      items.push(range ? { kind: "repeat", item, ...range } : item);
    }
    return items.length === 1 ? (items[0] ?? EMPTY) : { kind: "sequence", items };
  }

  private atom(): Regex {
    if (this.take("^")) return { kind: "start" };
    if (this.take("$")) return { kind: "end" };
    if (this.take(".")) return { kind: "set", set: DOT };
    if (this.take("(")) return this.group();
    if (this.take("[")) return { kind: "set", set: this.charClass() };
    if (!this.take("\\")) return { kind: "set", set: single(this.next()) };
    // Anchors of Python, Rust, Ruby and others.
    if (this.take("A")) return { kind: "start" };
    if (this.take("z") || this.take("Z")) return { kind: "end" };
    return { kind: "set", set: this.escape(false) };
  }

  private group(): Regex {
    if (this.take("?") && !this.take(":")) {
      // A named group; `<` can also begin a lookbehind.
      if (!this.take("<") || this.sees("=") || this.sees("!")) throw new Unsupported();
      while (!this.take(">")) this.next();
    }
    const inner = this.choice();
    if (!this.take(")")) throw new Unsupported();
    return inner;
  }

  private quantifier(): { min: number; max: number } | undefined {
    const range = this.range();
    if (range) this.take("?");
    return range;
  }

  private range(): { min: number; max: number } | undefined {
    if (this.take("*")) return { min: 0, max: Infinity };
    if (this.take("+")) return { min: 1, max: Infinity };
    if (this.take("?")) return { min: 0, max: 1 };
    // A brace that begins no quantifier is a plain character.
    const [text, min, comma, max] =
      /^\{(\d+)(?:(,)(\d*))?\}/.exec(this.input.slice(this.at, this.at + 32).join("")) ?? [];
    if (text === undefined) {
      if (this.sees("{") && /\d/.test(this.input[this.at + 1] ?? "")) throw new Unsupported();
      return undefined;
    }
    this.at += text.length;
    return { min: Number(min), max: max ? Number(max) : comma ? Infinity : Number(min) };
  }

  private charClass(): CharSet {
    const negated = this.take("^");
    const parts: CharSet[] = [];
    while (!this.take("]")) {
      const from = this.classAtom();
      const isRange = this.sees("-") && this.input[this.at + 1] !== "]";
      if (!isRange) {
        parts.push(from);
        continue;
      }
      this.take("-");
      const to = this.classAtom();
      const [low, high] = [from[0], to[0]];
      // In `[\d-x]`, the dash is a plain character.
      const plain = low && high && from.length === 1 && to.length === 1 && low[0] === low[1] && high[0] === high[1];
      parts.push(...(plain ? [[[low[0], high[0]]] as const] : [from, to, [[0x2d, 0x2d]] as const]));
    }
    // Classes such as `\S` are long and can be repeated very often.
    const set = union(...new Set(parts));
    return negated ? complement(set) : set;
  }

  private classAtom(): CharSet {
    return this.take("\\") ? this.escape(true) : single(this.next());
  }

  private escape(inClass: boolean): CharSet {
    const letter = this.input[this.at++] ?? "";
    const set = CLASS_ESCAPES.get(letter);
    if (set) return set;
    const control = CONTROL_ESCAPES[letter];
    if (control !== undefined) return single(control);
    if (letter === "b" && inClass) return single(8);
    if (letter === "c") return single(this.controlLetter());
    if (letter === "x") return single(this.hex(2));
    if (letter === "u") return single(this.unicode());
    if (letter === "0" && !/\d/.test(this.input[this.at] ?? "")) return single(0);
    // Backreferences, assertions and properties. Letters that ECMA-262 gives no meaning have one in other dialects.
    if (/^[0-9A-Za-z]?$/.test(letter)) throw new Unsupported();
    return single(Number(letter.codePointAt(0)));
  }

  private controlLetter(): number {
    const letter = this.input[this.at++] ?? "";
    if (!/^[a-zA-Z]$/.test(letter)) throw new Unsupported();
    return letter.charCodeAt(0) % 32;
  }

  private unicode(): number {
    if (this.take("{")) {
      const end = this.input.indexOf("}", this.at);
      const value = Number.parseInt(this.input.slice(this.at, end).join(""), 16);
      if (end < 0 || !(value <= MAX_CODE_POINT)) throw new Unsupported();
      this.at = end + 1;
      return value;
    }
    const unit = this.hex(4);
    const isHigh = unit >= 0xd800 && unit <= 0xdbff;
    if (!isHigh || !this.sees("\\") || this.input[this.at + 1] !== "u" || this.input[this.at + 2] === "{") return unit;
    const back = this.at;
    this.at += 2;
    const low = this.hex(4);
    if (low >= 0xdc00 && low <= 0xdfff) return 0x10000 + (unit - 0xd800) * 0x400 + (low - 0xdc00);
    this.at = back;
    return unit;
  }

  private hex(digits: number): number {
    const text = this.input.slice(this.at, this.at + digits).join("");
    if (text.length !== digits || !/^[0-9a-fA-F]+$/.test(text)) throw new Unsupported();
    this.at += digits;
    return Number.parseInt(text, 16);
  }

  private next(): number {
    const char = this.input[this.at++];
    if (char === undefined) throw new Unsupported();
    return Number(char.codePointAt(0));
  }

  private sees(char: string): boolean {
    return this.input[this.at] === char;
  }

  private take(char: string): boolean {
    if (!this.sees(char)) return false;
    this.at++;
    return true;
  }
}
