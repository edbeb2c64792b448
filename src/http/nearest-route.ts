// The route that somebody probably meant.

import { nearest } from "../config/nearest.ts";

/** A longer path is no misspelt one. */
const LONGEST = 80;

/** Of these patterns the one with the fewest edits, else one with another prefix than `path`; undefined when none is near. */
export function nearestRoute(path: string, patterns: readonly string[]): string | undefined {
  const asked = path.replace(/\/+$/, "").toLowerCase();
  if (asked.length > LONGEST || asked.length < 2) return undefined;
  const byEnd = patterns.filter(
    (pattern) => pattern.length > 4 && (asked.endsWith(pattern) || pattern.endsWith(asked)),
  );
  return nearest(asked, patterns) ?? byEnd.toSorted((a, b) => b.length - a.length)[0];
}
