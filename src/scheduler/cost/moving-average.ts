/** Weight of the newest sample. */
const SMOOTHING = 0.25;

/** Returns an exponential moving average updated with one more sample; the first sample becomes the average. */
export const blend = (average: number | undefined, sample: number): number =>
  average === undefined ? sample : average + SMOOTHING * (sample - average);
