// Counts the contents of the store of files and batches, for the metrics.

import { SvcError } from "../../domain/errors.ts";
import { FILE_PURPOSES } from "../../domain/file-purpose.ts";
import { BATCH_STATUSES } from "../../store/batch-records.ts";
import { withStorage } from "../../store/storage-error.ts";
import type { JobLevels } from "../../telemetry/metrics.ts";
import type { JobFolder } from "./job-folder.ts";

/** Returns the counts at `now`, in Unix seconds; undefined while the store cannot be read, which its users report. */
export function jobLevels(folder: JobFolder, now: number): JobLevels | undefined {
  try {
    return withStorage(() => countJobs(folder, now));
  } catch (error) {
    if (error instanceof SvcError) return undefined;
    throw error;
  }
}

function countJobs(folder: JobFolder, now: number): JobLevels {
  const store = folder.find();
  const batches = store?.batches.counts();
  const files = store?.files.totals(now);
  return {
    batches: new Map(BATCH_STATUSES.map((status) => [status, batches?.get(status) ?? 0])),
    linesWaiting: store?.batches.linesWaiting() ?? 0,
    files: new Map(FILE_PURPOSES.map((purpose) => [purpose, files?.get(purpose) ?? { count: 0, bytes: 0 }])),
  };
}
