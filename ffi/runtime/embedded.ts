// What the compiled binary carries beside its code. The build replaces this module; run from source there is nothing.

export interface Embedded {
  /** Path inside the binary of one zstd stream: all files, one after the other. */
  readonly archive: string;
  /** Names the content: changes with every byte of it. */
  readonly id: string;
  /** In the order of the archive. */
  readonly files: readonly EmbeddedFile[];
}

export interface EmbeddedFile {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Of its content. */
  readonly crc32: number;
}

export const embedded: Embedded | undefined = undefined;
