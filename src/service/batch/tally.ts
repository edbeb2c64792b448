// Counts the progress of a batch from the lines of its output.

import type { OutputTally } from "../../dialect/batches/output-line.ts";
import type { BatchProgress, BatchUsage } from "../../store/batch-records.ts";

const NO_USAGE: BatchUsage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };

export class Tally {
  private readonly answered = new Set<string>();
  private failed = 0;
  private usage = NO_USAGE;

  constructor(private readonly total: number) {}

  add({ customId, failed, usage }: OutputTally): void {
    this.answered.add(customId);
    this.failed += Number(failed);
    this.usage = {
      promptTokens: this.usage.promptTokens + usage.promptTokens,
      cachedTokens: this.usage.cachedTokens + usage.cachedTokens,
      completionTokens: this.usage.completionTokens + usage.completionTokens,
      reasoningTokens: this.usage.reasoningTokens + usage.reasoningTokens,
    };
  }

  /** Returns whether the output has a line for this one. */
  has(customId: string): boolean {
    return this.answered.has(customId);
  }

  get progress(): BatchProgress {
    const { total, failed, usage } = this;
    return { total, completed: this.answered.size - failed, failed, usage };
  }
}
