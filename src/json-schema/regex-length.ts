// Narrows a regular expression to texts of certain lengths.

import { matchLengths } from "./regex.ts";
import type { Sequence } from "./regex-normal.ts";

/**
 * Returns alternatives whose texts all have `min` to `max` code points and match the given ones. Alternatives without
 * such a text are left out. Returns undefined when one of them cannot be narrowed without losing others of its texts.
 */
export function withLengths(alternatives: readonly Sequence[], min: number, max: number): Sequence[] | undefined {
  const out: Sequence[] = [];
  for (const sequence of alternatives) {
    const [low, high] = matchLengths({ kind: "sequence", items: sequence });
    if (low > max || high < min) continue;
    const narrowed = low >= min && high <= max ? sequence : narrow(sequence, min, max);
    if (!narrowed) return undefined;
    out.push(narrowed);
  }
  return out;
}

/** Returns undefined when several parts vary in length: the lengths that one may have depend on those of the others. */
function narrow(sequence: Sequence, min: number, max: number): Sequence | undefined {
  const varying = sequence.flatMap((item, index) => (isFixed(matchLengths(item)) ? [] : index));
  const [index = 0] = varying;
  const repeat = sequence[index];
  if (varying.length !== 1 || repeat?.kind !== "repeat") return undefined;
  const lengths = matchLengths(repeat.item);
  if (!isFixed(lengths)) return undefined;
  const [width] = lengths;
  const [rest] = matchLengths({ kind: "sequence", items: sequence.toSpliced(index, 1) });
  const least = Math.max(repeat.min, Math.ceil((min - rest) / width));
  const most = Math.min(repeat.max, Math.floor((max - rest) / width));
  return least <= most ? sequence.with(index, { ...repeat, min: least, max: most }) : undefined;
}

const isFixed = ([low, high]: readonly [number, number]): boolean => low === high;
