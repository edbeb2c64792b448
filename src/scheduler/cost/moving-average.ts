/** Weight of the newest sample. */
const SMOOTHING = 0.25;

/** Returns an exponential moving average updated with one more sample; the first sample becomes the average. */
export const blend = (average: number | undefined, sample: number): number =>
  average === undefined ? sample : average + SMOOTHING * (sample - average);

/** A step that takes more than this many times as long as expected was disturbed, by other programs for example. */
export const OUTLIER = 3;

/** Like `blend`, but one disturbed step moves the average by little: its sample counts as OUTLIER times the average. */
export const blendSteady = (average: number | undefined, sample: number): number =>
  blend(average, average ? Math.min(sample, OUTLIER * average) : sample);
