// Counts how many alternatives of a pattern for the converter are open at once.

import { size } from "./char-set.ts";
import type { Regex } from "./regex.ts";

interface Piece {
  /** Alternatives at the beginning of the piece. */
  readonly begin: number;
  /** Most alternatives that are open within the piece. */
  readonly open: number;
  /** The only character that the piece can begin with; undefined when there are several. */
  readonly first: number | undefined;
  readonly mayBeEmpty: boolean;
  /** Whether the piece may continue at a place where it may also end. */
  readonly lingers: boolean;
}

/** Returns the most alternatives that are open at any place of an expression without anchors. */
export const patternAlternatives = (regex: Regex): number => pieceOf(regex).open;

/**
 * Returns the most alternatives open at once, given how many begin in each way. Those of an unknown way (undefined)
 * are open together with any other.
 */
export function openTogether(counts: ReadonlyMap<unknown, number>): number {
  const unsure = counts.get(undefined) ?? 0;
  let most = unsure;
  for (const [way, count] of counts) if (way !== undefined) most = Math.max(most, unsure + count);
  return most;
}

function pieceOf(regex: Regex): Piece {
  switch (regex.kind) {
    case "sequence":
      return sequenceOf(regex.items.map(pieceOf));
    case "choice":
      return choiceOf(regex.items.map(pieceOf));
    case "repeat": {
      const { min, max } = regex;
      const piece = pieceOf(regex.item);
      return { ...piece, mayBeEmpty: piece.mayBeEmpty || min === 0, lingers: piece.lingers || max > min };
    }
    default: {
      const first = regex.kind === "set" && size(regex.set) === 1 ? regex.set[0]?.[0] : undefined;
      return { begin: 1, open: 1, first, mayBeEmpty: false, lingers: false };
    }
  }
}

function sequenceOf(pieces: readonly Piece[]): Piece {
  let [begin, open, atStart] = [0, 1, true];
  // Alternatives that may still be open when the next piece begins.
  let left = 0;
  for (const piece of pieces) {
    open = Math.max(open, left + piece.open);
    left = piece.mayBeEmpty ? left + piece.open : piece.lingers ? piece.open : 0;
    if (atStart) begin += piece.begin;
    atStart &&= piece.mayBeEmpty;
  }
  const first = pieces[0]?.mayBeEmpty ? undefined : pieces[0]?.first;
  return { begin: Math.max(1, begin), open, first, mayBeEmpty: atStart, lingers: left > 0 };
}

/** Options stay open together as long as they are alike; where their characters differ, only the matching ones do. */
function choiceOf(options: readonly Piece[]): Piece {
  const byFirst = new Map<number | undefined, number>();
  for (const { first, open } of options) byFirst.set(first, (byFirst.get(first) ?? 0) + open);
  const begin = options.reduce((sum, option) => sum + option.begin, 0);
  return {
    begin,
    open: Math.max(begin, openTogether(byFirst)),
    first: byFirst.size === 1 ? options[0]?.first : undefined,
    mayBeEmpty: options.some(({ mayBeEmpty }) => mayBeEmpty),
    lingers: options.some(({ lingers }) => lingers),
  };
}
