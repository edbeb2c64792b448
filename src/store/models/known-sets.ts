// Files of the hub that `svc pull` knows by one name and by their checksums: models that are no GGUF files, or that have parts.

import { IMAGE_SETS } from "./image-sets.ts";
import { KOKORO } from "./kokoro.ts";

/** What a file is for in a model whose parts are of several makers. */
export const MODEL_PARTS = ["vae", "text-encoder", "taesd"] as const;
export type ModelPart = (typeof MODEL_PARTS)[number];

export interface PinnedFile {
  /** In the repository. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Absent: the model itself, or what lies beside it. */
  readonly part?: ModelPart;
}

export interface PinnedRepo {
  /** `owner/name`. */
  readonly repo: string;
  /** A commit. */
  readonly revision: string;
  readonly files: readonly PinnedFile[];
}

export interface KnownSet {
  /** The first file of the first is the model. */
  readonly repos: readonly [PinnedRepo, ...PinnedRepo[]];
  /** A sentence: what to do with it when it is there. */
  readonly use: string;
}

/** By the name that `svc pull` takes. */
export const KNOWN_SETS: ReadonlyMap<string, KnownSet> = new Map([["kokoro", KOKORO], ...Object.entries(IMAGE_SETS)]);
