// Brings a regular expression into a form that a grammar can follow: alternatives that match a whole text, without
// anchors and without repetitions of parts that may be empty.

import { EVERY_CHAR } from "./char-set.ts";
import { hasAnchor, type Regex } from "./regex.ts";

const MAX_ALTERNATIVES = 64;
/** Most syntax tree nodes that one expression may be rewritten to. */
const MAX_SIZE = 4_000;

const ANYTHING: Regex = { kind: "repeat", item: { kind: "set", set: EVERY_CHAR }, min: 0, max: Infinity };

export type Sequence = readonly Regex[];

/**
 * Returns alternatives that match exactly the texts in which `regex` is found. Undefined when an anchor cannot be
 * resolved where it stands, or the result would be too large.
 */
export function wholeAlternatives(regex: Regex): readonly Sequence[] | undefined {
  try {
    const budget = new Budget();
    return spread([regex], budget).flatMap((sequence) => {
      const whole = anchored(sequence);
      return whole ? [whole.flatMap((item) => flat(solid(item, budget)))] : [];
    });
  } catch (error) {
    if (error instanceof TooMuch) return undefined;
    throw error;
  }
}

class TooMuch extends Error {}

class Budget {
  private left = MAX_SIZE;
  spend(amount: number): void {
    this.left -= amount;
    if (this.left < 0) throw new TooMuch();
  }
}

const flat = (regex: Regex): Sequence => (regex.kind === "sequence" ? regex.items.flatMap(flat) : [regex]);

/** Multiplies out choices that contain anchors, and a choice that is the whole sequence. */
function spread(sequence: Sequence, budget: Budget): Sequence[] {
  const items = sequence.flatMap(flat);
  budget.spend(1 + items.length);
  const isAlone = items.filter(({ kind }) => kind !== "start" && kind !== "end").length === 1;
  const index = items.findIndex((item) => item.kind === "choice" && (isAlone || hasAnchor(item)));
  const choice = items[index];
  if (choice?.kind !== "choice") return [items];
  if (choice.items.length > MAX_ALTERNATIVES && !isAlone) throw new TooMuch();
  return choice.items.flatMap((item) => spread([...items.slice(0, index), item, ...items.slice(index + 1)], budget));
}

/** Returns the sequence for a whole text; undefined when its anchors can never hold. */
function anchored(items: Sequence): Sequence | undefined {
  const begin = items.findLastIndex((item) => item.kind === "start") + 1;
  const firstEnd = items.findIndex((item) => item.kind === "end");
  const end = firstEnd < 0 ? items.length : firstEnd;
  const inner = items.slice(begin, end);
  // Anything before the start of a text or after its end must be empty.
  const outer = begin <= end ? [...items.slice(0, begin), ...items.slice(end)] : items;
  if (!outer.every(canBeEmpty)) return undefined;
  if ([...inner, ...outer].some((item) => item.kind === "repeat" && hasAnchor(item))) throw new TooMuch();
  return [...(begin > 0 ? [] : [ANYTHING]), ...inner, ...(firstEnd < 0 ? [ANYTHING] : [])];
}

/** Returns an expression for the same texts without empty repeated parts, with which a grammar could loop. */
function solid(regex: Regex, budget: Budget): Regex {
  budget.spend(1);
  if (regex.kind === "sequence" || regex.kind === "choice") {
    return { kind: regex.kind, items: regex.items.map((item) => solid(item, budget)) };
  }
  if (regex.kind !== "repeat") return regex;
  const item = solid(regex.item, budget);
  if (!canBeEmpty(item)) return { ...regex, item };
  const core = withoutEmpty(item, budget);
  return core && regex.max > 0
    ? { kind: "repeat", item: core, min: 0, max: regex.max }
    : { kind: "sequence", items: [] };
}

export function canBeEmpty(regex: Regex): boolean {
  if (regex.kind === "set") return false;
  if (regex.kind === "repeat") return regex.min === 0 || regex.max === 0 || canBeEmpty(regex.item);
  if (regex.kind === "choice") return regex.items.some(canBeEmpty);
  return regex.kind !== "sequence" || regex.items.every(canBeEmpty);
}

/** Returns an already solid expression without the empty text; undefined when no other text is left. */
function withoutEmpty(regex: Regex, budget: Budget): Regex | undefined {
  budget.spend(1);
  if (!canBeEmpty(regex)) return regex;
  if (regex.kind === "repeat") return regex.max === 0 ? undefined : { ...regex, min: 1 };
  if (regex.kind === "choice") return choiceOf(regex.items.map((item) => withoutEmpty(item, budget)));
  if (regex.kind !== "sequence") return undefined;
  // One option for each part that may be the first non-empty one.
  return choiceOf(
    regex.items.map((item, index) => {
      const core = withoutEmpty(item, budget);
      const rest = regex.items.slice(index + 1);
      budget.spend(rest.length);
      return core && { kind: "sequence", items: [core, ...rest] };
    }),
  );
}

function choiceOf(options: readonly (Regex | undefined)[]): Regex | undefined {
  const items = options.filter((option) => option !== undefined);
  return items.length > 1 ? { kind: "choice", items } : items[0];
}
