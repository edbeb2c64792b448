// The progress of a model download, as it is reported.

export interface DownloadProgress {
  readonly name: string;
  /** Bytes of all files received so far. */
  readonly received: number;
  /** Bytes of all files; absent if a server does not report the size. */
  readonly total?: number;
  /** Whether this process waits because another process is downloading the model. */
  readonly waiting: boolean;
}

/** Events of a download; the last is `done`, with the command line option that serves the model, unless it is served. */
export type DownloadEvent =
  | { readonly type: "progress"; readonly progress: DownloadProgress }
  | { readonly type: "note"; readonly text: string }
  | { readonly type: "done"; readonly name: string; readonly option?: string };
