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
export function grammarRules(text: string): GrammarRules {
  const rules: Rule[] = [];
  const named = new Map<string, Rule>();
  const newRule = (alternatives: Item[][] = [[]]): Rule => {
    const rule = { index: rules.length, alternatives };
    rules.push(rule);
    return rule;
  };
  const ruleOf = (name: string): Rule => {
    const rule = named.get(name) ?? newRule();
    named.set(name, rule);
    return rule;
  };
  let open: Rule[] = [newRule()];
  let depth = 0;
  let nameLength = 0;
  let letters = 0;
  let reversed = 0;
  const again = (repetition: Repetition) => (letters += nameLength * repeat(open, repetition));
  const add = (size: number, rule?: Rule) => {
    const item = { size, rule, fewest: 1, copies: 1, nexts: 1, isRepeated: false };
    open.at(-1)?.alternatives.at(-1)?.push(item);
  };
  for (let at = 0; at < text.length;) {
    const character = text[at] as string;
    const name = match(NAME, text, at);
    if (name) {
      at += name.length;
      const defined = match(DEFINED, text, at);
      if (defined) {
        at += defined.length;
        letters += nameLength = name.length;
        const rule = ruleOf(name);
        // What llama.cpp made of the brackets and repetitions of an earlier definition stays.
        if (rule.alternatives.some((items) => items.length > 0)) newRule(rule.alternatives);
        rule.alternatives = [[]];
        open = [rule];
      } else add(1, ruleOf(name));
    } else if (character === '"') {
      const end = endOfQuoted(text, at + 1, '"');
      add(end - at - 1);
      at = end + 1;
    } else if (character === "[") {
      const from = text[at + 1] === "^" ? at + 2 : at + 1;
      const end = endOfQuoted(text, from, "]");
      add(end - from);
      at = end + 1;
    } else if (character === "<") {
      const end = text.indexOf(">", at);
      add(1);
      at = end < 0 ? text.length : end + 1;
    } else if (character === "{") {
      const { end, ...repetition } = repetitionAt(text, at + 1);
      if (repetition.most < repetition.fewest) reversed++;
      again(repetition);
      at = end;
    } else {
      at++;
      if (character === "#") at = endOfLine(text, at);
      else if (character === ".") add(1);
      else if (character === "*") again({ fewest: 0, most: Number.POSITIVE_INFINITY, copies: 1 });
      else if (character === "+") again({ fewest: 1, most: Number.POSITIVE_INFINITY, copies: 2 });
      else if (character === "?") again({ fewest: 0, most: 1, copies: 1 });
      else if (character === "|") open.at(-1)?.alternatives.push([]);
      else if (character === ")" && open.length > 1) open.pop();
      else if (character === "(") {
        const group = newRule();
        add(1, group);
        letters += nameLength;
        open.push(group);
        depth = Math.max(depth, open.length - 1);
      }
    }
  }
  return { rules, root: named.get("root"), depth, letters, reversed };
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

/** Repeats the last item. How often that spells it out. */
function repeat(open: readonly Rule[], { fewest, most, copies }: Repetition): number {
  const item = open.at(-1)?.alternatives.at(-1)?.at(-1);
  if (!item) return 0;
  const spelledOut = Math.max(1, Math.min(copies, MOST_REPETITIONS));
  if (item.fewest === 0) item.nexts *= spelledOut;
  item.fewest *= fewest;
  item.isRepeated ||= most > 1;
  return (item.copies *= spelledOut);
}
