// Generates random texts of a GBNF grammar: finds in milliseconds what would take a model many attempts.

type Element =
  | { readonly kind: "chars"; readonly ranges: readonly (readonly [number, number])[]; readonly negated: boolean }
  | { readonly kind: "rule"; readonly name: string }
  | { readonly kind: "group"; readonly options: readonly Sequence[] }
  | { readonly kind: "repeat"; readonly element: Element; readonly min: number; readonly max: number };
type Sequence = readonly Element[];

/** Returns a number from 0 to below 1. */
export type Random = () => number;

const INTERESTING = [...'\u0000\u001f\t\n\r "\\/-_.,:{}[]()aZ09\u007f\u0080é\u2028\u{1F600}\u{10FFFF}'].map(
  (char) => char.codePointAt(0) ?? 0,
);
const MAX_CHAR = 0x10ffff;

export class GrammarWalk {
  private readonly rules = new Map<string, readonly Sequence[]>();
  /** For each rule, how many nested rules it needs to reach an end. */
  private readonly heights = new Map<string, number>();
  private readonly known = new Map<Sequence, number>();
  private isSettled = false;

  constructor(grammar: string) {
    for (const line of grammar.split("\n")) {
      const [, name, body] = /^([\w-]+) ::= (.*)$/s.exec(line) ?? [];
      if (name !== undefined) this.rules.set(name, new Parser(body ?? "").options());
    }
    for (let changed = true; changed;) {
      changed = false;
      for (const [name, options] of this.rules) {
        const height = 1 + Math.min(...options.map((option) => this.height(option)));
        if (height >= (this.heights.get(name) ?? Infinity)) continue;
        this.heights.set(name, height);
        changed = true;
      }
    }
    this.isSettled = true;
  }

  /** Returns a random text of the grammar. */
  text(random: Random): string {
    const out: string[] = [];
    this.rule("root", random, out, 24);
    return out.join("");
  }

  private rule(name: string, random: Random, out: string[], depth: number): void {
    this.choose(this.rules.get(name) ?? [], random, out, depth);
  }

  private choose(options: readonly Sequence[], random: Random, out: string[], depth: number): void {
    const lowest = Math.min(...options.map((option) => this.height(option)));
    const possible = options.filter((option) => this.height(option) <= Math.max(lowest, depth));
    const chosen = possible[Math.floor(random() * possible.length)] ?? [];
    for (const element of chosen) this.element(element, random, out, depth - 1);
  }

  private element(element: Element, random: Random, out: string[], depth: number): void {
    if (element.kind === "chars") out.push(pick(element, random));
    else if (element.kind === "rule") this.rule(element.name, random, out, depth);
    else if (element.kind === "group") this.choose(element.options, random, out, depth);
    else {
      const spread = depth > 0 ? Math.min(element.max - element.min, random() < 0.1 ? 40 : 3) : 0;
      const count = element.min + Math.floor(random() * (spread + 1));
      for (let index = 0; index < count; index++) this.element(element.element, random, out, depth);
    }
  }

  private height(sequence: Sequence): number {
    const known = this.known.get(sequence);
    if (known !== undefined) return known;
    const height = Math.max(0, ...sequence.map((element) => this.elementHeight(element)));
    if (this.isSettled) this.known.set(sequence, height);
    return height;
  }

  private elementHeight(element: Element): number {
    if (element.kind === "chars") return 0;
    if (element.kind === "rule") return this.heights.get(element.name) ?? Infinity;
    if (element.kind === "repeat") return element.min === 0 ? 0 : this.elementHeight(element.element);
    return Math.min(...element.options.map((option) => this.height(option)));
  }
}

function pick({ ranges, negated }: Element & { kind: "chars" }, random: Random): string {
  const isIn = (char: number) => ranges.some(([from, to]) => from <= char && char <= to) !== negated;
  const known = INTERESTING.filter(isIn);
  if (known.length > 0 && (random() < 0.4 || negated))
    return String.fromCodePoint(known[Math.floor(random() * known.length)] ?? 0);
  const [from, to] = negated ? [0x61, 0x7a] : (ranges[Math.floor(random() * ranges.length)] ?? [0x61, 0x61]);
  const char = from + Math.floor(random() * (Math.min(to, MAX_CHAR) - from + 1));
  return String.fromCodePoint(isIn(char) ? char : from);
}

class Parser {
  private at = 0;

  constructor(private readonly source: string) {}

  options(): Sequence[] {
    const options = [this.sequence()];
    while (this.take("|")) options.push(this.sequence());
    return options;
  }

  private sequence(): Sequence {
    const elements: Element[] = [];
    for (;;) {
      this.space();
      const next = this.source[this.at];
      if (next === undefined || next === "|" || next === ")") return elements;
      const made = this.atom();
      const last = made.pop();
      elements.push(...made, ...(last ? [this.quantified(last)] : []));
    }
  }

  /** Parses one element. A literal consists of several, which a quantifier repeats as a group. */
  private atom(): Element[] {
    if (this.take('"')) {
      const elements: Element[] = [];
      while (!this.take('"')) {
        const char = this.char();
        elements.push({ kind: "chars", ranges: [[char, char]], negated: false });
      }
      const isRepeated = /[*+?{]/.test(this.source[this.at] ?? "");
      return isRepeated ? [{ kind: "group", options: [elements] }] : elements;
    }
    if (this.take("[")) return [this.chars()];
    if (this.take("(")) {
      const options = this.options();
      if (!this.take(")")) throw new Error(`unbalanced: ${this.source}`);
      return [{ kind: "group", options }];
    }
    const [name] = /^[\w-]+/.exec(this.source.slice(this.at)) ?? [];
    if (name === undefined) throw new Error(`unknown: ${this.source.slice(this.at)}`);
    this.at += name.length;
    return [{ kind: "rule", name }];
  }

  private chars(): Element {
    const negated = this.take("^");
    const ranges: [number, number][] = [];
    while (!this.take("]")) {
      const from = this.char();
      const isRange = this.source[this.at] === "-" && this.source[this.at + 1] !== "]";
      if (isRange) this.at++;
      ranges.push([from, isRange ? this.char() : from]);
    }
    return { kind: "chars", ranges, negated };
  }

  private quantified(element: Element): Element {
    const [text, sign, min, comma, max] = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})/.exec(this.source.slice(this.at)) ?? [];
    if (text === undefined) return element;
    this.at += text.length;
    const range = { "*": [0, Infinity], "+": [1, Infinity], "?": [0, 1] }[sign ?? ""];
    const most = max ? Number(max) : comma ? Infinity : Number(min);
    return { kind: "repeat", element, min: range?.[0] ?? Number(min), max: range?.[1] ?? most };
  }

  private char(): number {
    const rest = this.source.slice(this.at, this.at + 10);
    const [escape, two, four, eight] = /^\\(?:x(..)|u(....)|U(........))/s.exec(rest) ?? [];
    if (escape !== undefined) {
      this.at += escape.length;
      return Number.parseInt(two ?? four ?? eight ?? "", 16);
    }
    if (rest.startsWith("\\")) {
      this.at += 2;
      const letter = rest[1] ?? "";
      return ({ t: "\t", r: "\r", n: "\n" }[letter] ?? letter).charCodeAt(0);
    }
    const char = rest.codePointAt(0) ?? 0;
    this.at += char > 0xffff ? 2 : 1;
    return char;
  }

  private space(): void {
    while (this.source[this.at] === " ") this.at++;
  }

  private take(char: string): boolean {
    if (char === "|" || char === ")") this.space();
    if (this.source[this.at] !== char) return false;
    this.at++;
    return true;
  }
}
