// Shows the progress of a download.

import type { DownloadProgress } from "../domain/download.ts";
import { ProgressLine, type ProgressOptions } from "./progress-line.ts";

const MEASURE = {
  amount: (received: number, total: number | undefined) =>
    total === undefined ? gigabytes(received) : `${gigabytes(received)} of ${gigabytes(total)}`,
  rate: (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB/s`,
};

export class DownloadLine extends ProgressLine {
  constructor(options: Omit<ProgressOptions, "measure">) {
    super({ ...options, measure: MEASURE });
  }

  showDownload({ name, received: done, total, waiting }: DownloadProgress): void {
    const remark = waiting ? { remark: "another svc downloads it" } : {};
    this.show({ name, done, ...(total !== undefined && { total }), ...remark });
  }
}

/** Formats a number of bytes for people. */
export function gigabytes(bytes: number): string {
  if (bytes >= 999.95e6) return `${(bytes / 1e9).toFixed(2)} GB`;
  return bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${bytes} bytes`;
}
