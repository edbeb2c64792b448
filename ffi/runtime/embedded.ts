// What the compiled binary contains besides its code. The build replaces this module; runs from source have nothing.

/** Sets of files that are used together and therefore unpacked together. */
export const COMPONENTS = ["base", "embeddings", "transcription", "speech", "recognition", "images"] as const;
export type ComponentName = (typeof COMPONENTS)[number];

/** Files in an archive: one zstd stream with all files one after the other. */
export interface Packed {
  /** Identifies the content: changes with every byte of it. */
  readonly id: string;
  /** In the order of the archive. */
  readonly files: readonly EmbeddedFile[];
}

export interface Component extends Packed {
  readonly name: ComponentName;
  /** Path of the archive inside the binary; absent when this binary downloads the archive. */
  readonly archive?: string;
  /** Size of the archive. */
  readonly bytes: number;
  readonly sha256: string;
}

interface EmbeddedFile {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Checksum of the content. */
  readonly crc32: number;
}

/** The components that the build made; a component whose files were not available is empty. */
export const embedded: readonly Component[] | undefined = undefined;
