// What llama.cpp makes of a GBNF grammar before the first token of an answer: it recurses into every bracket, spells out
// repetitions, and looks for left recursion along every path. (llama.cpp, src/llama-grammar.cpp)

/** Sizes that decide how much that costs. A text that is no grammar has some as well. */
export interface GrammarSize {
  /** Brackets inside one another. */
  readonly depth: number;
  /** Characters, ranges and references to rules, with repetitions spelled out. */
  readonly elements: number;
  /** Elements that are looked at on all paths by which rules begin with other rules. */
  readonly paths: number;
  /** Most alternatives that a rule may begin with: each is looked at with each token of the vocabulary. */
  readonly beginnings: number;
  /** Letters of rules' names: each bracket and each repetition, spelled out, has that of the rule it is in. */
  readonly letters: number;
}

interface Item {
  /** Elements of one of it: a reference is one. */
  readonly size: number;
  /** The rule that it stands for; none for characters. */
  readonly rule: Rule | undefined;
  fewest: number;
  /** How often it is spelled out. */
  copies: number;
}

interface Rule {
  alternatives: Item[][];
}

/** llama.cpp refuses more, or takes a larger upper bound for none. */
const MOST_REPETITIONS = 2000;
/** Rules that begin with one another and are more than this are counted as endless paths. */
const LONGEST_CHAIN = 1000;

const NAME = /[A-Za-z0-9-]+/y;
const DEFINED = /[ \t]*::=/y;
const REPETITION = /\{\s*(\d*)\s*(,?)\s*(\d*)\s*\}?/y;

export function grammarSize(text: string): GrammarSize {
  const { rules, depth, letters } = scan(text);
  const elements = rules.reduce((sum, rule) => sum + elementsOf(rule), 0);
  const openings = new Openings();
  const paths = rules.reduce((sum, rule) => sum + openings.of(rule).paths + openings.ofRepetitions(rule), 0);
  const beginnings = rules.reduce((most, rule) => Math.max(most, openings.of(rule).beginnings), 0);
  return { depth, elements, paths, beginnings, letters };
}

/** The rules of a grammar, those of its brackets among them. */
function scan(text: string): { readonly rules: readonly Rule[]; readonly depth: number; readonly letters: number } {
  const rules: Rule[] = [];
  const named = new Map<string, Rule>();
  const newRule = (): Rule => {
    const rule = { alternatives: [[]] };
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
  const again = (fewest: number, most: number) => (letters += nameLength * repeat(open, fewest, most));
  const add = (size: number, rule?: Rule) => {
    open.at(-1)?.alternatives.at(-1)?.push({ size, rule, fewest: 1, copies: 1 });
  };
  for (let at = 0; at < text.length;) {
    const character = text[at] as string;
    const name = match(NAME, text, at);
    if (name) {
      at += name[0].length;
      const defined = match(DEFINED, text, at);
      if (defined) {
        at += defined[0].length;
        letters += nameLength = name[0].length;
        const rule = ruleOf(name[0]);
        rule.alternatives = [[]];
        open = [rule];
      } else add(1, ruleOf(name[0]));
    } else if (character === '"' || character === "[" || character === "<") {
      const end = endOf(text, at + 1, character === "[" ? "]" : character === "<" ? ">" : '"');
      add(character === "<" ? 1 : end - at - 1);
      at = end + 1;
    } else if (character === "{") {
      const [whole, fewest, comma, most] = match(REPETITION, text, at) as RegExpExecArray;
      again(Number(fewest), comma === "" ? Number(fewest) : most === "" ? Number(fewest) + 1 : Number(most));
      at += whole.length;
    } else {
      at++;
      if (character === "#") at = endOf(text, at, "\n");
      else if (character === ".") add(1);
      else if (character === "*") again(0, 1);
      else if (character === "+") again(1, 2);
      else if (character === "?") again(0, 1);
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
  return { rules, depth, letters };
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Where `close` stands that no backslash is before. */
function endOf(text: string, from: number, close: string): number {
  let at = from;
  while (at < text.length && text[at] !== close) at += text[at] === "\\" && close !== "\n" ? 2 : 1;
  return at;
}

/** How often that spells the last item out. */
function repeat(open: readonly Rule[], fewest: number, most: number): number {
  const item = open.at(-1)?.alternatives.at(-1)?.at(-1);
  if (!item) return 0;
  item.fewest *= fewest;
  return (item.copies *= Math.max(1, Math.min(Math.max(fewest, most), MOST_REPETITIONS)));
}

const elementsOf = ({ alternatives }: Rule): number =>
  alternatives.reduce((sum, items) => sum + items.reduce((all, { size, copies }) => all + size * copies, 1), 0);

interface Opening {
  readonly paths: number;
  readonly beginnings: number;
  readonly mayBeEmpty: boolean;
}

/** How rules begin: each is looked at once here, while llama.cpp looks at it once a path. */
class Openings {
  private readonly known = new Map<Rule, Opening>();
  private readonly entered = new Set<Rule>();

  of(rule: Rule): Opening {
    const known = this.known.get(rule);
    if (known) return known;
    // Left recursion, which llama.cpp refuses.
    if (this.entered.has(rule)) return { paths: 0, beginnings: 0, mayBeEmpty: false };
    if (this.entered.size >= LONGEST_CHAIN) {
      return { paths: Number.POSITIVE_INFINITY, beginnings: 0, mayBeEmpty: false };
    }
    this.entered.add(rule);
    let paths = elementsOf(rule);
    let beginnings = 0;
    let mayBeEmpty = false;
    for (const items of rule.alternatives) {
      let goesOn = true;
      for (let i = 0; goesOn && i < items.length; i++) {
        const { size, rule: begun, fewest, copies } = items[i] as Item;
        const opening = begun ? this.of(begun) : { paths: 0, beginnings: 1, mayBeEmpty: size === 0 };
        paths += opening.paths * (opening.mayBeEmpty ? copies : 1);
        beginnings += opening.beginnings;
        goesOn = opening.mayBeEmpty || fewest === 0;
      }
      mayBeEmpty ||= goesOn;
    }
    this.entered.delete(rule);
    const opening = { paths, beginnings, mayBeEmpty };
    this.known.set(rule, opening);
    return opening;
  }

  /** Paths that the rules begin which llama.cpp makes of repetitions: one for each, and each begins with what is repeated. */
  ofRepetitions(rule: Rule): number {
    let paths = 0;
    for (const { rule: repeated, copies } of rule.alternatives.flat()) {
      if (!repeated || copies === 1) continue;
      const opening = this.of(repeated);
      // Where that may be empty, with the next of them, too.
      paths += opening.paths * copies * (opening.mayBeEmpty ? copies / 2 : 1);
    }
    return paths;
  }
}
