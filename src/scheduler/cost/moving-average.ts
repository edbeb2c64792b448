/** Weight of the newest sample. */
const SMOOTHING = 0.25;

/** An exponential moving average with one more sample; the first is the average. */
export const blend = (average: number | undefined, sample: number): number =>
  average === undefined ? sample : average + SMOOTHING * (sample - average);
