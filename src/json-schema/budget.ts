// Limits the cost of examining schemas, whatever they contain: other requests wait meanwhile.

/** Steps for all schemas of one request, of about two microseconds each: enough for five hundred large tools. */
const REQUEST_STEPS = 100_000;

/** Characters that are copied and written as JSON in the time of one step. */
export const TEXT_A_STEP = 512;

/** Takes steps from the budget; throws when none is left. */
export type Spend = (steps: number) => void;

/** The steps left for the schemas of one request. */
export class SchemaBudget {
  private left = REQUEST_STEPS;

  /** Returns a function that takes steps and, when none are left, calls `spent`, which throws. */
  spending(spent: () => never): Spend {
    return (steps) => {
      this.left -= steps;
      if (this.left < 0) spent();
    };
  }
}
