// The media library with the llama library, a tiny model for both, and the basic operations of media tests.

import { afterEach, beforeAll, expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { NativeLlama } from "../../ffi/llama/binding.ts";
import {
  PROJECTOR_DEFAULTS,
  type MediaChunk,
  type MediaJob,
  type Medium,
  type ProjectorConfig,
  type PromptChunk,
} from "../../ffi/media/api.ts";
import { openMedia, type NativeMedia } from "../../ffi/media/binding.ts";
import { makeVisionModel, type VisionKind } from "../models/make-vision-model.ts";
import { picture, wavFile } from "../models/media-files.ts";
import { sharedFolder } from "../support/folders.ts";
import { copyEmbeddings, library, load } from "./harness.ts";

export const WAIT_MS = 30_000;
/** Chunks of a small image in tiles: four tiles and an overview, 16 tokens each. */
export const TILES = 5;
export const TILE_TOKENS = 16;

const libraries = process.env["SVC_LIBRARIES"] ?? join(import.meta.dir, "../../vendor/.build/lib/current");

/** Whether the media library exists next to the llama library; it is a separate build target. */
export const isBuilt = existsSync(join(libraries, `libsvc_media.${process.platform === "darwin" ? "dylib" : "so"}`));

export interface MediaRig {
  readonly llama: NativeLlama;
  readonly media: NativeMedia;
  /** A folder for files; removed after the last test. */
  readonly folder: string;
}

/** Opens both libraries before the first test of a file, and unloads the models of its tests. */
export function mediaRig(): MediaRig {
  const rig: { llama?: NativeLlama; media?: NativeMedia } = {};
  const folder = sharedFolder();
  const opened = <T>(part: T | undefined): T => {
    if (!part) throw new Error("the libraries are not open");
    return part;
  };
  beforeAll(() => {
    if (!isBuilt) return;
    rig.llama = library();
    rig.media = openMedia(libraries);
  });
  afterEach(() => unload(rig));
  return {
    folder,
    get llama() {
      return opened(rig.llama);
    },
    get media() {
      return opened(rig.media);
    },
  };
}

/** Unloads the projector and the model. */
export function unload({ media, llama }: Partial<MediaRig>): void {
  media?.unload();
  llama?.unload();
}

/** Loads a projector for the loaded model completely; resolves with the error message, or undefined. */
export async function loadProjector(
  { llama, media }: MediaRig,
  changes: Partial<ProjectorConfig> & { readonly path: string },
): Promise<string | undefined> {
  media.loadStart(llama.modelPointer(), { ...PROJECTOR_DEFAULTS, gpu: false, threads: 1, ...changes });
  for (;;) {
    const state = media.loadPoll();
    if (state.state === "ready") return undefined;
    if (state.state === "failed") return state.error;
    await Bun.sleep(1);
  }
}

/** Loads a tiny model and its projector. */
export async function start(rig: MediaRig, kind: VisionKind, changes: Partial<ProjectorConfig> = {}): Promise<void> {
  const files = makeVisionModel(kind, rig.folder);
  expect(await load(rig.llama, { path: files.model, parallel: 1 })).toBeUndefined();
  expect(await loadProjector(rig, { path: files.projector, ...changes })).toBeUndefined();
}

export const image = (width = 48, height = 32, seed = 1): Medium => ({
  kind: "image",
  id: `${width}x${height}-${seed}`,
  ...picture(width, height, seed),
});

export const sound = (seconds: number): Medium => ({
  kind: "audio",
  id: `${seconds}s`,
  bytes: wavFile(seconds, 16_000),
});

/** Submits media in order, with text around each. */
export const submit = (rig: MediaRig, ...list: Medium[]): MediaJob => submitFor("", rig, ...list);

/** Submits media for this client. */
export function submitFor(client: string, { media }: MediaRig, ...list: Medium[]): MediaJob {
  const { marker } = media.projector();
  return media.submit(`<|im_start|>see ${list.map(() => `${marker} and `).join("")}<|im_end|>`, list, client);
}

/** Submits media and waits until tokens and lengths are known. */
export function prepare(rig: MediaRig, ...list: Medium[]): MediaJob {
  const job = submit(rig, ...list);
  expect(rig.media.wait(WAIT_MS)).toBe(job);
  return job;
}

export function encode({ media }: MediaRig, job: MediaJob): void {
  if (media.encode(job)) expect(media.wait(WAIT_MS)).toBe(job);
  expect(media.state(job)).toBe("encoded");
}

export const isMedium = (chunk: PromptChunk): chunk is MediaChunk => chunk.kind !== "text";

export const mediaOf = ({ media }: MediaRig, job: MediaJob): MediaChunk[] => media.chunks(job).filter(isMedium);

/** Returns all embeddings of a job, chunk by chunk. */
export const embeddingsOf = ({ media }: MediaRig, job: MediaJob): number[] =>
  media.chunks(job).flatMap((chunk, index) => (isMedium(chunk) ? [...copyEmbeddings(media, job, index)] : []));

/** Returns for each chunk of a job's media whether it is encoded. */
export const encodedOf = ({ media }: MediaRig, job: MediaJob): boolean[] =>
  media.chunks(job).flatMap((chunk, index) => (isMedium(chunk) ? [media.embeddings(job, index) !== 0n] : []));
