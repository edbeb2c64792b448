// How much is recognised side by side, by what it takes.

/**
 * How many states of a model there may be, at most `most`: the first is made with the model, and so is counted, the others when
 * they are needed. `freeBytes`: beside the first.
 */
export const statesThatFit = (most: number, stateBytes: number, freeBytes: number): number =>
  Math.min(most, 1 + Math.floor(freeBytes / stateBytes));
