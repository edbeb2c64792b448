// The rules of a GBNF grammar as far as they decide what it costs llama.cpp. (llama.cpp, src/llama-grammar.cpp)

/** Characters, a token or a reference to a rule, with its repetitions. */
export interface Item {
  /** Elements of one of it: a reference is one. None of them: it is empty. */
  readonly size: number;
  /** The rule that it stands for; none for characters. */
  readonly rule: Rule | undefined;
  fewest: number;
  /** How often it is spelled out. */
  copies: number;
  /** Those of its copies that may be the next one at once, though none is empty: as in `(x?){20}`, not in `x{0,20}`. */
  nexts: number;
  /** Another one may come after one of it. */
  isRepeated: boolean;
}

export interface Rule {
  /** Its place among all rules. */
  readonly index: number;
  alternatives: Item[][];
}

interface GrammarRules {
  /** Those of its brackets among them, and those that a later definition of the same name has replaced. */
  readonly rules: readonly Rule[];
  /** The one that an answer follows; none where it has no definition. */
  readonly root: Rule | undefined;
  /** Brackets inside one another. */
  readonly depth: number;
  /** Letters of rules' names: each bracket and each repetition, spelled out, has that of the rule it is in. */
  readonly letters: number;
  /** Repetitions that end below where they begin, as `{2,1}`. */
  readonly reversed: number;
}

interface Repetition {
  readonly fewest: number;
  readonly most: number;
  /** How many of it are spelled out. */
  readonly copies: number;
}

/** llama.cpp refuses more, or takes a larger upper bound for none. */
const MOST_REPETITIONS = 2000;

const NAME = /[A-Za-z0-9-]+/y;
const DEFINED = /[ \t]*::=/y;
const DIGITS = /\d*/y;

/** Reads any text: what is no grammar has rules as well. */
export const grammarRules = (text: string): GrammarRules => new RuleReader(text).read();

class RuleReader {
  private readonly rules: Rule[] = [];
  private readonly named = new Map<string, Rule>();
  /** The rule that is defined, and its brackets that are open. */
  private open: Rule[] = [this.newRule()];
  /** Of the rule that is defined. */
  private nameLength = 0;
  private depth = 0;
  private letters = 0;
  private reversed = 0;
  private at = 0;

  constructor(private readonly text: string) {}

  read(): GrammarRules {
    while (this.at < this.text.length) this.readNext();
    const { rules, named, depth, letters, reversed } = this;
    return { rules, root: named.get("root"), depth, letters, reversed };
  }

  private readNext(): void {
    const { text } = this;
    const name = match(NAME, text, this.at);
    if (name) return this.readName(name);
    const from = this.at++;
    switch (text[from]) {
      case '"':
        return this.readCharacters(from + 1, '"');
      case "[":
        return this.readCharacters(text[from + 1] === "^" ? from + 2 : from + 1, "]");
      case "<":
        return this.readToken(from);
      case ".":
        return this.add(1);
      case "{":
        return this.readRepetition(from + 1);
      case "*":
        return this.repeatLast({ fewest: 0, most: Number.POSITIVE_INFINITY, copies: 1 });
      case "+":
        return this.repeatLast({ fewest: 1, most: Number.POSITIVE_INFINITY, copies: 2 });
      case "?":
        return this.repeatLast({ fewest: 0, most: 1, copies: 1 });
      case "|":
        return void this.open.at(-1)?.alternatives.push([]);
      case "(":
        return this.openBracket();
      case ")":
        if (this.open.length > 1) this.open.pop();
        return;
      case "#":
        this.at = endOfLine(text, this.at);
    }
  }

  /** The beginning of a definition, or a reference. */
  private readName(name: string): void {
    this.at += name.length;
    const defined = match(DEFINED, this.text, this.at);
    const rule = this.named.get(name) ?? this.newRule();
    this.named.set(name, rule);
    if (!defined) return this.add(1, rule);
    this.at += defined.length;
    this.nameLength = name.length;
    this.letters += name.length;
    // What llama.cpp made of the brackets and repetitions of an earlier definition stays.
    if (rule.alternatives.some((items) => items.length > 0)) this.newRule(rule.alternatives);
    rule.alternatives = [[]];
    this.open = [rule];
  }

  private readCharacters(from: number, close: string): void {
    const end = endOfQuoted(this.text, from, close);
    this.add(end - from);
    this.at = end + 1;
  }

  private readToken(from: number): void {
    const end = this.text.indexOf(">", from);
    this.add(1);
    this.at = end < 0 ? this.text.length : end + 1;
  }

  private readRepetition(from: number): void {
    const { end, ...repetition } = repetitionAt(this.text, from);
    if (repetition.most < repetition.fewest) this.reversed++;
    this.repeatLast(repetition);
    this.at = end;
  }

  private openBracket(): void {
    const group = this.newRule();
    this.add(1, group);
    this.letters += this.nameLength;
    this.open.push(group);
    this.depth = Math.max(this.depth, this.open.length - 1);
  }

  private newRule(alternatives: Item[][] = [[]]): Rule {
    const rule = { index: this.rules.length, alternatives };
    this.rules.push(rule);
    return rule;
  }

  private add(size: number, rule?: Rule): void {
    this.open.at(-1)?.alternatives.at(-1)?.push({ size, rule, fewest: 1, copies: 1, nexts: 1, isRepeated: false });
  }

  /** Repeats the last item; each time that it is spelled out has the name of the rule. */
  private repeatLast({ fewest, most, copies }: Repetition): void {
    const item = this.open.at(-1)?.alternatives.at(-1)?.at(-1);
    if (!item) return;
    const spelledOut = Math.max(1, Math.min(copies, MOST_REPETITIONS));
    if (item.fewest === 0) item.nexts *= spelledOut;
    item.fewest *= fewest;
    item.isRepeated ||= most > 1;
    item.copies *= spelledOut;
    this.letters += this.nameLength * item.copies;
  }
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** Where `close` stands that no backslash is before. */
function endOfQuoted(text: string, from: number, close: string): number {
  let at = from;
  while (at < text.length && text[at] !== close) at += text[at] === "\\" ? 2 : 1;
  return at;
}

function endOfLine(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== "\n" && text[at] !== "\r") at++;
  return at;
}

/** Where neither space nor a comment is any more. */
function endOfSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const character = text[at];
    if (character === "#") at = endOfLine(text, at);
    else if (character === " " || character === "\t" || character === "\n" || character === "\r") at++;
    else return at;
  }
}

/** The repetition whose brace is open, and where it ends. */
function repetitionAt(text: string, from: number): Repetition & { readonly end: number } {
  let at = endOfSpace(text, from);
  const number = (): string => {
    const digits = match(DIGITS, text, at) ?? "";
    at = endOfSpace(text, at + digits.length);
    return digits;
  };
  const fewest = Number(number());
  let most = fewest;
  let copies = fewest;
  if (text[at] === ",") {
    at = endOfSpace(text, at + 1);
    const given = number();
    most = given === "" ? Number.POSITIVE_INFINITY : Number(given);
    copies = given === "" ? fewest + 1 : Math.max(fewest, most);
  }
  return { fewest, most, copies, end: text[at] === "}" ? at + 1 : at };
}
