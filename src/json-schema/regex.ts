// Syntax trees of regular expressions, and questions about them.

import { includes, intersect, SPELLABLE, type CharSet } from "./char-set.ts";

export type Regex =
  | { readonly kind: "set"; readonly set: CharSet }
  | { readonly kind: "sequence"; readonly items: readonly Regex[] }
  | { readonly kind: "choice"; readonly items: readonly Regex[] }
  | { readonly kind: "repeat"; readonly item: Regex; readonly min: number; readonly max: number }
  | { readonly kind: "start" }
  | { readonly kind: "end" };

/** Returns the fewest and most code points that an expression can match; anchors count as none. */
export function matchLengths(regex: Regex): [min: number, max: number] {
  switch (regex.kind) {
    case "set":
      return [1, 1];
    case "sequence":
      return regex.items.map(matchLengths).reduce(([a, b], [c, d]) => [a + c, b + d], [0, 0]);
    case "choice": {
      const ranges = regex.items.map(matchLengths);
      return [Math.min(...ranges.map(([min]) => min)), Math.max(...ranges.map(([, max]) => max))];
    }
    case "repeat": {
      const [min, max] = matchLengths(regex.item);
      return [min * regex.min, max === 0 || regex.max === 0 ? 0 : max * regex.max];
    }
    default:
      return [0, 0];
  }
}

/** Returns the expressions that an expression consists of. */
export const partsOf = (regex: Regex): readonly Regex[] =>
  regex.kind === "repeat" ? [regex.item] : "items" in regex ? regex.items : [];

export const hasAnchor = (regex: Regex): boolean =>
  regex.kind === "start" || regex.kind === "end" || partsOf(regex).some(hasAnchor);

/**
 * Returns the expression without sets that hold only surrogates, which no text has as characters; undefined when nothing
 * is left.
 */
export function possible(regex: Regex): Regex | undefined {
  if (regex.kind === "set") return intersect(regex.set, SPELLABLE).length > 0 ? regex : undefined;
  if (regex.kind === "sequence") {
    const items = regex.items.map(possible);
    return items.every((item) => item !== undefined) ? { kind: "sequence", items } : undefined;
  }
  if (regex.kind === "choice") {
    const items = regex.items.map(possible).filter((item) => item !== undefined);
    return items.length > 0 ? { kind: "choice", items } : undefined;
  }
  if (regex.kind !== "repeat") return regex;
  const item = possible(regex.item);
  if (item) return { ...regex, item };
  return regex.min === 0 ? { kind: "sequence", items: [] } : undefined;
}

/** A budget of steps, shared by several calls. */
interface Steps {
  left: number;
}

/**
 * Returns whether an expression is found in `text`, in time that a hostile expression cannot blow up; undefined when
 * the steps did not suffice.
 */
export function finds(regex: Regex, text: string, steps: Steps): boolean | undefined {
  // Not even one look at each character is left; a code point has at most two UTF-16 units.
  if (text.length / 2 > steps.left) {
    steps.left = -1;
    return undefined;
  }
  const points = Array.from(text, (char) => Number(char.codePointAt(0)));

  /** Returns every position where a match that begins at one of `from` can end. */
  function ends(node: Regex, from: ReadonlySet<number>): ReadonlySet<number> {
    steps.left -= 1 + from.size;
    if (steps.left < 0 || from.size === 0) return new Set();
    switch (node.kind) {
      case "set":
        return new Set(
          [...from].filter((at) => at < points.length && includes(node.set, Number(points[at]))).map((at) => at + 1),
        );
      case "sequence":
        return node.items.reduce((at, item) => ends(item, at), from);
      case "choice":
        return new Set(node.items.flatMap((item) => [...ends(item, from)]));
      case "repeat":
        return repeated(node, from);
      case "start":
        return from.has(0) ? new Set([0]) : new Set();
      default:
        return from.has(points.length) ? new Set([points.length]) : new Set();
    }
  }

  function repeated({ item, min, max }: Regex & { kind: "repeat" }, from: ReadonlySet<number>): ReadonlySet<number> {
    let at = from;
    for (let count = 0; count < min && at.size > 0 && steps.left >= 0; count++) at = ends(item, at);
    const all = new Set(at);
    for (let count = min; count < max && at.size > 0 && steps.left >= 0; count++) {
      at = new Set([...ends(item, at)].filter((position) => !all.has(position)));
      for (const position of at) all.add(position);
    }
    return all;
  }

  const starts = new Set(Array.from({ length: points.length + 1 }, (_, index) => index));
  const found = ends(regex, starts).size > 0;
  return steps.left < 0 ? undefined : found;
}
