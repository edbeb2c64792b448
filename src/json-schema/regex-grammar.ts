// Writes the texts that an answer may be as GBNF: a list of texts, or all that match a regular expression.

import { intersect, SPELLABLE, spellChar, spellRanges } from "./char-set.ts";
import { possible, type Regex } from "./regex.ts";
import { wholeAlternatives } from "./regex-normal.ts";
import { isRegex, parseRegex } from "./regex-parser.ts";

/**
 * Returns GBNF for texts that match `source` as a whole; undefined when it is no regular expression, too large, matches
 * nothing or cannot be expressed.
 */
export function regexGrammar(source: string): string | undefined {
  const parsed = isRegex(source) ? parseRegex(source) : undefined;
  // llama.cpp reads `[]` as nothing at all, which would allow the rest of the sequence.
  const regex = parsed && possible(parsed);
  if (!regex) return undefined;
  const alternatives = wholeAlternatives({ kind: "sequence", items: [{ kind: "start" }, regex, { kind: "end" }] });
  if (!alternatives || alternatives.length === 0) return undefined;
  return `root ::= ${alternatives.map(sequence).join(" | ")}`;
}

/** Returns GBNF for these texts. */
export const choiceGrammar = (texts: readonly string[]): string => `root ::= ${texts.map(literal).join(" | ")}`;

const sequence = (items: readonly Regex[]): string => items.map(element).join(" ") || '""';

function element(regex: Regex): string {
  switch (regex.kind) {
    case "set":
      return `[${spellRanges(intersect(regex.set, SPELLABLE))}]`;
    case "sequence":
      return `(${sequence(regex.items)})`;
    case "choice":
      return `(${regex.items.map((item) => element(item)).join(" | ")})`;
    case "repeat":
      return `${element(regex.item)}${repetition(regex.min, regex.max)}`;
    default:
      // Anchors were resolved before.
      return '""';
  }
}

const repetition = (min: number, max: number): string => `{${min},${max === Infinity ? "" : max}}`;

const literal = (text: string): string =>
  `"${Array.from(text, (char) => spellChar(char.codePointAt(0) ?? 0)).join("")}"`;
