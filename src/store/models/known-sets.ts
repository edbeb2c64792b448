// Files of the hub that `svc pull` knows by one name and by their checksums: models that are no GGUF files.

import { KOKORO } from "./kokoro.ts";

export interface PinnedFile {
  /** In the repository. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface KnownSet {
  /** `owner/name`. */
  readonly repo: string;
  /** A commit. */
  readonly revision: string;
  /** The first is the model. */
  readonly files: readonly PinnedFile[];
  /** A sentence: what to do with it when it is there. */
  readonly use: string;
}

/** By the name that `svc pull` takes. */
export const KNOWN_SETS: ReadonlyMap<string, KnownSet> = new Map([["kokoro", KOKORO]]);
