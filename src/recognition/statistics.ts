/** Returns the value below which `share` of the values lie; 0 when there are none. */
export const quantile = (values: readonly number[], share: number): number =>
  quantileOfSorted(
    values.toSorted((a, b) => a - b),
    share,
  );

export const quantileOfSorted = (values: readonly number[], share: number): number =>
  values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

export const median = (values: readonly number[]): number => quantile(values, 0.5);
