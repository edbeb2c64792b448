// Counts the progress of a batch from the lines of its output.

import type { OutputTally } from "../../dialect/batches/output-line.ts";
import type { BatchProgress, BatchUsage } from "../../store/batch-records.ts";

const NO_USAGE: BatchUsage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };

export class Tally {
  private readonly lines = new Set<string>();
  private readonly counts = { completed: 0, failed: 0, skipped: 0 };
  private usage = NO_USAGE;

  constructor(private readonly total: number) {}

  add({ customId, outcome, usage }: OutputTally): void {
    this.lines.add(customId);
    this.counts[outcome]++;
    this.usage = {
      promptTokens: this.usage.promptTokens + usage.promptTokens,
      cachedTokens: this.usage.cachedTokens + usage.cachedTokens,
      completionTokens: this.usage.completionTokens + usage.completionTokens,
      reasoningTokens: this.usage.reasoningTokens + usage.reasoningTokens,
    };
  }

  /** Returns whether the output has a line for this one. */
  has(customId: string): boolean {
    return this.lines.has(customId);
  }

  /** Whether some lines were never processed: the batch has ended before. */
  get hasSkipped(): boolean {
    return this.counts.skipped > 0;
  }

  /** The counts that clients see: lines that were never processed are neither completed nor failed. */
  get progress(): BatchProgress {
    const { total, usage } = this;
    const { completed, failed } = this.counts;
    return { total, completed, failed, usage };
  }
}
