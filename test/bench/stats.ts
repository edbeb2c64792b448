// The few statistics that the benchmark reports.

/** The value below which `share` (0 to 1) of the sample lies, by the nearest rank; NaN for an empty sample. */
export function percentile(sample: readonly number[], share: number): number {
  const sorted = sample.toSorted((a, b) => a - b);
  const rank = Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1));
  return sorted[rank] ?? NaN;
}

/** The middle value, or the mean of the two middle ones; NaN for an empty sample. */
export function median(sample: readonly number[]): number {
  const sorted = sample.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? NaN) + upper) / 2 : upper;
}

/** Distance from the smallest to the largest value. */
export const range = (sample: readonly number[]): number => Math.max(...sample) - Math.min(...sample);

/** The range as a share of the median. */
export const spread = (sample: readonly number[]): number => range(sample) / median(sample);
