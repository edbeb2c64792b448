// What looking at schemas may cost, whatever is in them: others wait meanwhile.

/** Steps for all schemas of one request, of about two microseconds each. Those of five hundred large tools fit. */
const MAX_EFFORT = 100_000;

/** Takes so many steps from what may be done; throws when it is spent. */
export type Spend = (steps: number) => void;

/** The steps that are left for the schemas of one request. */
export class Effort {
  private left = MAX_EFFORT;

  /** Takes steps from these; calls `spent`, which throws, when there are none left. */
  spending(spent: () => never): Spend {
    return (steps) => {
      this.left -= steps;
      if (this.left < 0) spent();
    };
  }
}
