// Translates a client's `pattern` into one that llama.cpp's converter enforces. The converter compares raw characters
// between the quotes of a JSON string: characters that must be escaped there are written as escapes, and nothing else
// matches them.

import {
  chars,
  complement,
  EVERY_CHAR,
  includes,
  intersect,
  size,
  SPELLABLE,
  spellRanges,
  union,
  type CharSet,
} from "./char-set.ts";
import type { Spend } from "./budget.ts";
import { MAX_REPETITION } from "./limits.ts";
import { patternAlternatives } from "./pattern-alternatives.ts";
import { matchLengths, partsOf, possible, type Regex } from "./regex.ts";
import { withLengths } from "./regex-length.ts";
import { canBeEmpty, wholeAlternatives, type Sequence } from "./regex-normal.ts";
import { parseRegex } from "./regex-parser.ts";

export interface Lengths {
  readonly min: number;
  readonly max: number;
}

interface WrittenPattern {
  readonly pattern: string;
  /** Most alternatives that are open at any place of the pattern. */
  readonly open: number;
}

interface GrammarPattern extends WrittenPattern {
  /** Counted repetitions in the pattern. */
  readonly repetitions: number;
  /** False when the pattern does not enforce the lengths. */
  readonly lengths: boolean;
}

/** Characters with a short escape, mapped to the letter of the escape. */
const ESCAPES: ReadonlyMap<number, string> = new Map([
  [0x22, '"'],
  [0x5c, "\\"],
  [8, "b"],
  [12, "f"],
  [10, "n"],
  [13, "r"],
  [9, "t"],
]);
const CONTROLS: CharSet = [[0, 0x1f]];
/** Characters that stand for themselves in a JSON string and have a UTF-8 form. */
const RAW: CharSet = complement(union(CONTROLS, [[0x22, 0x22]], [[0x5c, 0x5c]], complement(SPELLABLE)));
/** More control characters without a short escape than this are left out of a set that has other characters. */
const MAX_CONTROLS = 4;
/** Largest product of nested repetitions: they multiply the ways in which a grammar can read a text. */
const MAX_REPETITION_PRODUCT = 10_000;

export type Translated = GrammarPattern | "anything" | undefined;

/**
 * Returns a function that translates a regular expression, which `isRegex` accepts, for certain lengths; undefined when
 * it cannot be expressed. The result matches only texts in which the original is found; all have one of the lengths if
 * the result's `lengths` is true. What all lengths share is made once.
 */
export function patternTranslator(source: string, spend: Spend): (lengths: Lengths) => Translated {
  spend(source.length / 16);
  const regex = parseRegex(source);
  const spellable = regex && possible(regex);
  const alternatives = spellable && wholeAlternatives(spellable);
  if (!alternatives || alternatives.length === 0) return () => undefined;
  if (alternatives.some(isEverything)) return () => "anything";
  const isUsable = alternatives.every(isAllowed);
  const weight = alternatives.flat().reduce((sum, item) => sum + nodesIn(item), 0) / 16;
  const writtenOut = (used: readonly Sequence[]): Omit<GrammarPattern, "lengths"> => {
    const out = written(used);
    spend(out.pattern.length / 24);
    return { ...out, repetitions: used.flat().reduce((sum, item) => sum + repetitionsIn(item), 0) };
  };
  let whole: ReturnType<typeof writtenOut> | undefined;
  return ({ min, max }) => {
    const isFree = min === 0 && max === Infinity;
    if (!isFree) spend(weight);
    const narrowed = isFree ? alternatives : withLengths(alternatives, min, max);
    const fitting = narrowed && narrowed.length > 0 && narrowed.every(isAllowed) ? narrowed : undefined;
    if (!fitting && !isUsable) return undefined;
    const isNarrower = fitting && (fitting.length < alternatives.length || fitting.some(isOther(alternatives)));
    if (isNarrower) return { ...writtenOut(fitting), lengths: true };
    whole ??= writtenOut(alternatives);
    return { ...whole, lengths: fitting !== undefined };
  };
}

const isOther =
  <T>(list: readonly T[]) =>
  (item: T, index: number): boolean =>
    item !== list[index];

const nodesIn = (regex: Regex): number => partsOf(regex).reduce((sum, part) => sum + nodesIn(part), 1);

/** Returns a pattern for strings of certain lengths; the converter itself would count `\ud83d\ude00` as two. */
export const lengthPattern = ({ min, max }: Lengths): WrittenPattern => ({
  pattern: `^${ANY_CHARACTER}${braces(min, max)}$`,
  open: patternAlternatives({ kind: "repeat", item: ANY_SPELLED, min, max }),
});

/** Returns whether a sequence matches every string: it contains "anything", and all else in it may be absent. */
const isEverything = (sequence: Sequence): boolean => sequence.every(canBeEmpty) && sequence.some(isAnything);

const isAnything = (regex: Regex): boolean =>
  regex.kind === "repeat" &&
  regex.min === 0 &&
  regex.max === Infinity &&
  regex.item.kind === "set" &&
  complement(regex.item.set).length === 0;

const isAllowed = (sequence: Sequence): boolean => sequence.every((item) => nested(item) <= MAX_REPETITION_PRODUCT);

/** Returns the product of nested repetitions; Infinity when a single one exceeds llama.cpp's limit. */
function nested(regex: Regex): number {
  const inside = Math.max(1, ...partsOf(regex).map(nested));
  if (regex.kind !== "repeat") return inside;
  const count = times(regex);
  return count > MAX_REPETITION ? Infinity : Math.max(1, count) * inside;
}

const times = ({ min, max }: Regex & { kind: "repeat" }): number => (max === Infinity ? min : max);

const repetitionsIn = (regex: Regex): number =>
  partsOf(regex).reduce((sum, part) => sum + repetitionsIn(part), regex.kind === "repeat" ? times(regex) : 0);

function written(alternatives: readonly Sequence[]): WrittenPattern {
  const spelled = group(choiceOf(alternatives.map((items) => items.flatMap(spell))));
  return { pattern: `^${render(spelled)}$`, open: patternAlternatives(spelled) };
}

/** Returns the items that an expression is written as between the quotes of a JSON string. */
function spell(regex: Regex): Sequence {
  switch (regex.kind) {
    case "set":
      return spellSet(regex.set);
    case "sequence":
      return regex.items.flatMap(spell);
    case "choice":
      return choiceOf(regex.items.map(spell));
    case "repeat": {
      const { item, min, max } = regex;
      if (max === 0 || matchLengths(item)[1] === 0) return [];
      return min === 1 && max === 1 ? spell(item) : [{ ...regex, item: group(spell(item)) }];
    }
    default:
      throw new Error("an anchor was not resolved");
  }
}

const choiceOf = (options: readonly Sequence[]): Sequence =>
  options.length === 1
    ? (options[0] ?? [])
    : [{ kind: "choice", items: options.map((items) => ({ kind: "sequence", items })) }];

const group = (items: Sequence): Regex =>
  items.length === 1 && items[0]?.kind === "choice" ? items[0] : { kind: "sequence", items };

function spellSet(set: CharSet): Sequence {
  const raw = intersect(set, RAW);
  const letters = chars([...ESCAPES].flatMap(([char, letter]) => (includes(set, char) ? letter : [])).join(""));
  const rare = Array.from({ length: 0x20 }, (_, char) => char).filter(
    (char) => includes(set, char) && !ESCAPES.has(char),
  );
  const options: Sequence[] = [];
  if (raw.length > 0) options.push([{ kind: "set", set: raw }]);
  if (letters.length > 0) options.push([...text("\\"), { kind: "set", set: letters }]);
  if (rare.length <= MAX_CONTROLS || options.length === 0) {
    options.push(...rare.map((char) => text(`\\u${char.toString(16).padStart(4, "0")}`)));
  }
  return choiceOf(options);
}

const text = (characters: string): Sequence => Array.from(characters, (char) => ({ kind: "set", set: chars(char) }));

function render(regex: Regex): string {
  switch (regex.kind) {
    case "set":
      return size(regex.set) === 1 ? spellRanges(regex.set) : `[${spellRanges(regex.set)}]`;
    case "sequence":
      return regex.items.map(render).join("");
    case "choice":
      return `(?:${regex.items.map(render).join("|")})`;
    case "repeat": {
      const { item, min, max } = regex;
      const inner = render(item);
      const unit = item.kind === "choice" || /^\[[^\]]*\]$/.test(inner) ? inner : `(?:${inner})`;
      // Always with braces: only then does the converter make a separate rule of the repeated part.
      return `${unit}${braces(min, max)}`;
    }
    default:
      throw new Error("an anchor was not resolved");
  }
}

const braces = (min: number, max: number): string => `{${min === max ? min : `${min},${max === Infinity ? "" : max}`}}`;

/** Every character as it is written between the quotes of a JSON string. */
const ANY_SPELLED = group(spellSet(EVERY_CHAR));
const ANY_CHARACTER = render(ANY_SPELLED);
