// What files and batches look like to a scrape. They belong to the data folder, whatever model is served.

import { family, type Labels } from "./exposition.ts";
import type { JobLevels, LineOutcome } from "./metrics.ts";

/**
 * The families of files and batches. `jobs` are the levels of the data folder; undefined while it cannot be read, then they
 * have no samples.
 */
export function jobFamilies(jobs: JobLevels | undefined, lines: ReadonlyMap<LineOutcome, number>): string[] {
  const gauge = (name: string, help: string, read: (jobs: JobLevels) => (readonly [Labels, number])[]) =>
    family("gauge", name, help, jobs ? read(jobs) : []);
  return [
    gauge("svc_batches", "Batches in the data folder, by status.", ({ batches }) =>
      [...batches].map(([status, count]) => [{ status }, count]),
    ),
    gauge(
      "svc_batch_lines_waiting",
      "Lines of batches in progress without an answer, those under way included.",
      ({ linesWaiting }) => [[{}, linesWaiting]],
    ),
    family(
      "counter",
      "svc_batch_lines_total",
      "Lines that this server put into the outputs of batches: answered, refused or failed, or skipped as their batch ended.",
      [...lines].map(([outcome, count]) => [{ outcome }, count]),
    ),
    gauge("svc_stored_files", "Files in the data folder, by purpose.", ({ files }) =>
      [...files].map(([purpose, { count }]) => [{ purpose }, count]),
    ),
    gauge("svc_stored_file_bytes", "Their contents, by purpose.", ({ files }) =>
      [...files].map(([purpose, { bytes }]) => [{ purpose }, bytes]),
    ),
  ];
}
