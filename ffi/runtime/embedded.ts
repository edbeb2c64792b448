// What the compiled binary carries beside its code. The build replaces this module; run from source there is nothing.

/** What is unpacked together, because it is used together. */
export const COMPONENTS = ["base", "embeddings", "transcription", "speech", "recognition", "images"] as const;
export type ComponentName = (typeof COMPONENTS)[number];

/** Files in an archive: one zstd stream, all of them one after the other. */
export interface Packed {
  /** Names the content: changes with every byte of it. */
  readonly id: string;
  /** In the order of the archive. */
  readonly files: readonly EmbeddedFile[];
}

export interface Component extends Packed {
  readonly name: ComponentName;
  /** Path of the archive inside the binary; absent: this binary is one that downloads it. */
  readonly archive?: string;
  /** Of the archive. */
  readonly bytes: number;
  readonly sha256: string;
}

interface EmbeddedFile {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Of its content. */
  readonly crc32: number;
}

/** What the build made; a component whose files could not be had is empty. */
export const embedded: readonly Component[] | undefined = undefined;
