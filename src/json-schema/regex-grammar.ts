// Writes the texts that an answer may be as GBNF: a list of texts, or all that match a regular expression.

import { intersect, SPELLABLE, type CharSet } from "./char-set.ts";
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
      return characters(regex.set);
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

const characters = (set: CharSet): string =>
  `[${intersect(set, SPELLABLE)
    .map(([from, to]) => (from === to ? character(from) : `${character(from)}-${character(to)}`))
    .join("")}]`;

const literal = (text: string): string =>
  `"${Array.from(text, (char) => character(char.codePointAt(0) ?? 0)).join("")}"`;

/** Writes letters, digits and spaces as they are, others by number, so that none has a meaning in a grammar. */
function character(point: number): string {
  const char = String.fromCodePoint(point);
  if (/^[A-Za-z0-9 ]$/.test(char)) return char;
  const hex = point.toString(16);
  if (point <= 0xff) return `\\x${hex.padStart(2, "0")}`;
  return point <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}
