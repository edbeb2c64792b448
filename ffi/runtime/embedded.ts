// What the compiled binary carries beside its code. The build replaces this module; run from source there is nothing.

export interface Embedded {
  /** Path inside the binary of one zstd stream: all files, one after the other. */
  readonly archive: string;
  /** Names the content: changes with every byte of it. */
  readonly id: string;
  /** In the order of the archive; sizes in bytes. */
  readonly files: readonly { readonly name: string; readonly size: number }[];
}

export const embedded: Embedded | undefined = undefined;
