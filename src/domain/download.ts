// A model that is being downloaded, as its progress is told.

export interface DownloadProgress {
  readonly name: string;
  /** Bytes that are there, of all files. */
  readonly received: number;
  /** Bytes of all files; absent where a server does not tell. */
  readonly total?: number;
  /** Another program downloads. */
  readonly waiting: boolean;
}

/** What there is to tell of a download; the last is `done`, with the option that serves the model. */
export type DownloadEvent =
  | { readonly type: "progress"; readonly progress: DownloadProgress }
  | { readonly type: "note"; readonly text: string }
  | { readonly type: "done"; readonly name: string; readonly option: string };
