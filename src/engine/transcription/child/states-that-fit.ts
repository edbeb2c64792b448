// Decides how many recordings are recognised in parallel, by the memory that they need.

/**
 * Returns how many states of a model may exist, at most `most`. The first is created with the model and so already
 * counted, the others when they are needed. `freeBytes`: what is free beside the first.
 */
export const statesThatFit = (most: number, stateBytes: number, freeBytes: number): number =>
  Math.min(most, 1 + Math.floor(freeBytes / stateBytes));
