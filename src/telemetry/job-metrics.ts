// The metrics of files and batches. These belong to the data folder, independent of the models that are served.

import { by, type Counts, type Metric } from "./exposition.ts";
import type { JobLevels } from "./metrics.ts";

/**
 * Returns the metrics of files and batches. `jobs`: levels of the data folder; undefined while the folder cannot be
 * read, so that metrics of levels have no samples.
 */
export function jobMetrics(jobs: JobLevels | undefined, lines: Counts): Metric[] {
  const files = [...(jobs?.files ?? [])];
  return [
    by("gauge", "svc_batches", "Batches in the data folder, by status.", "status", jobs?.batches ?? []),
    {
      type: "gauge",
      name: "svc_batch_lines_waiting",
      help: "Unanswered lines of batches in progress, including running ones.",
      samples: jobs ? [[{}, jobs.linesWaiting]] : [],
    },
    lines.metric(
      "svc_batch_lines_total",
      "Lines that this server put into the outputs of batches: answered, refused, failed, or skipped because their batch ended.",
    ),
    by(
      "gauge",
      "svc_stored_files",
      "Files in the data folder, by purpose.",
      "purpose",
      files.map(([purpose, { count }]) => [purpose, count]),
    ),
    by(
      "gauge",
      "svc_stored_file_bytes",
      "Bytes of the files in the data folder, by purpose.",
      "purpose",
      files.map(([purpose, { bytes }]) => [purpose, bytes]),
    ),
  ];
}
