// Reads the rules of a GBNF grammar as far as they determine llama.cpp's work. (llama.cpp, src/llama-grammar.cpp)

/** Characters, a token or a reference to a rule, with its repetitions. */
export interface Item {
  /** Elements of one copy; a reference is one element. 0: the item is empty. */
  readonly size: number;
  /** The rule that the item refers to; undefined for characters. */
  readonly rule: Rule | undefined;
  fewest: number;
  /** How many copies llama.cpp expands the item to. */
  copies: number;
  /** How many copies may be next at once although none is empty: more than one in `(x?){20}`, but not in `x{0,20}`. */
  nexts: number;
  /** Whether another copy may follow a copy. */
  isRepeated: boolean;
}

export interface Rule {
  /** Index of the rule among all rules. */
  readonly index: number;
  alternatives: Item[][];
}

interface GrammarRules {
  /** All rules, including those for brackets and those that a later definition of the same name has replaced. */
  readonly rules: readonly Rule[];
  /** The rule `root`, which an answer follows; undefined if the grammar has none. */
  readonly root: Rule | undefined;
  /** Nesting depth of brackets. */
  readonly depth: number;
  /** Letters of rule names: each bracket and each expanded repetition has a copy of the name of its rule. */
  readonly letters: number;
  /** Repetitions with a maximum below the minimum, such as `{2,1}`. */
  readonly reversed: number;
}

interface Repetition {
  readonly fewest: number;
  readonly most: number;
  /** How many copies llama.cpp expands the repetition to. */
  readonly copies: number;
}

/** llama.cpp refuses more repetitions, or treats a larger maximum as no maximum. */
const MOST_REPETITIONS = 2000;

const NAME = /[A-Za-z0-9-]+/y;
const DEFINED = /[ \t]*::=/y;
const DIGITS = /\d*/y;

/** Reads the rules of any text, even of text that is not a grammar. */
export const grammarRules = (text: string): GrammarRules => new RuleReader(text).read();

class RuleReader {
  private readonly rules: Rule[] = [];
  private readonly named = new Map<string, Rule>();
  /** The rule that is being defined, followed by its open brackets. */
  private open: Rule[] = [this.newRule()];
  /** Length of the name of the rule that is being defined. */
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

  /** Reads the beginning of a definition, or a reference. */
  private readName(name: string): void {
    this.at += name.length;
    const defined = match(DEFINED, this.text, this.at);
    const rule = this.named.get(name) ?? this.newRule();
    this.named.set(name, rule);
    if (!defined) return this.add(1, rule);
    this.at += defined.length;
    this.nameLength = name.length;
    this.letters += name.length;
    // llama.cpp keeps the rules that it made for brackets and repetitions of an earlier definition.
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

  /** Repeats the last item; each copy in the expansion has the name of the rule. */
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

/** Returns the index of the first `close` that is not escaped by a backslash. */
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

/** Returns the index after spaces and comments. */
function endOfSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const character = text[at];
    if (character === "#") at = endOfLine(text, at);
    else if (character === " " || character === "\t" || character === "\n" || character === "\r") at++;
    else return at;
  }
}

/** Reads the repetition after an opening brace; `end`: index after the repetition. */
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
