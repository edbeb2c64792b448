// Limits the cost of examining schemas, whatever they contain: other requests wait meanwhile.

/** Steps for all schemas of one request, of about two microseconds each: enough for five hundred large tools. */
const MAX_EFFORT = 100_000;

/** Characters that are copied and written as JSON in the time of one step. */
export const TEXT_A_STEP = 512;

/** Takes steps from the remaining effort; throws when none is left. */
export type Spend = (steps: number) => void;

/** The steps left for the schemas of one request. */
export class Effort {
  private left = MAX_EFFORT;

  /** Returns a function that takes steps and, when none are left, calls `spent`, which throws. */
  spending(spent: () => never): Spend {
    return (steps) => {
      this.left -= steps;
      if (this.left < 0) spent();
    };
  }
}
