// Finds the word that a user probably meant.

/** With more edits than this, two words count as different. */
const FARTHEST = 3;

/**
 * Returns the candidate with the fewest edits from `given`, with a lower limit for short words; capitals do not matter,
 * and between equally near ones the first letter decides. If none is near enough, returns a candidate with the same part
 * before the first hyphen, or undefined.
 */
export function nearest(given: string, candidates: readonly string[]): string | undefined {
  const word = given.toLowerCase();
  // A single letter is one edit from every other.
  const limit = word.length < 2 ? 0 : Math.min(FARTHEST, Math.max(1, Math.floor(word.length / 3)));
  const ranked = candidates
    .map((candidate) => ({ candidate, lower: candidate.toLowerCase() }))
    .map(({ candidate, lower }) => ({ candidate, lower, far: distance(word, lower) }))
    .sort((a, b) => a.far - b.far || Number(b.lower[0] === word[0]) - Number(a.lower[0] === word[0]));
  if (ranked[0] && ranked[0].far <= limit) return ranked[0].candidate;
  const [first = ""] = word.split("-");
  return first.length < 3 || first === word
    ? undefined
    : ranked.find(({ lower }) => lower.split("-")[0] === first)?.candidate;
}

/** Returns the number of edits between two words; swapping two letters is one edit (optimal string alignment). */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwapped ? (before[j - 2] as number) + 1 : Infinity;
      next.push(Math.min(change, swap, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length] as number;
}
