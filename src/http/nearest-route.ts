// The route that somebody probably meant.

import { nearest } from "../config/nearest.ts";

/** A longer path is no misspelt one. */
const LONGEST = 80;

/** Of these patterns the one with another prefix than `path`, else the one with the fewest edits; undefined when none is near. */
export function nearestRoute(path: string, patterns: readonly string[]): string | undefined {
  const asked = path.replace(/\/+$/, "").toLowerCase();
  if (asked.length > LONGEST || asked.length < 2) return undefined;
  const byEnd = patterns.filter(
    (pattern) => pattern.length > 4 && (asked.endsWith(pattern) || pattern.endsWith(asked)),
  );
  return byEnd.toSorted((a, b) => b.length - a.length)[0] ?? nearest(asked, patterns);
}
