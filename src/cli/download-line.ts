// Shows the progress of a download.

import type { DownloadProgress } from "../domain/download.ts";
import { fileSize } from "../domain/file-size.ts";
import { ProgressLine, type ProgressOptions } from "./progress-line.ts";

const MEASURE = {
  amount: (received: number, total: number | undefined) =>
    total === undefined ? fileSize(received) : `${fileSize(received)} of ${fileSize(total)}`,
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
