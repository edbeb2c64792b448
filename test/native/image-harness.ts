// The image library with svc-draw, and the basic operations of drawing tests.

import { afterAll, beforeAll } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DrawOptions, ImageConfig } from "../../ffi/image/api.ts";
import { openImageLibrary, type NativeImageLibrary } from "../../ffi/image/binding.ts";
import { developmentLibraries, fileName, nativeFiles } from "../../ffi/runtime/native-files.ts";

const libraries = process.env["SVC_LIBRARIES"] ?? developmentLibraries();
export const { embeddedImages: DRAW } = nativeFiles("");

/** Whether the library exists: it is a separate build target. */
export const isBuilt = existsSync(join(libraries, fileName("image")));
if (!isBuilt) console.log("drawing is not tested: the image library is not built (`bun build.ts media`)");

export const SIDE = 128;
/** The owner of all images in tests. */
export const OWNER = 1;

export interface ImageRig {
  readonly library: NativeImageLibrary;
  /** A folder for files; removed after the last test. */
  readonly folder: string;
}

/** Opens the library before the first test of a file, and unloads the models of its tests after the last. */
export function imageRig(): ImageRig {
  const folder = mkdtempSync(join(tmpdir(), "svc-image-"));
  let library: NativeImageLibrary | undefined;
  beforeAll(() => {
    if (isBuilt) library = openImageLibrary(libraries);
  });
  afterAll(() => {
    library?.unload();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    folder,
    get library() {
      if (!library) throw new Error("the image library is not built");
      return library;
    },
  };
}

/**
 * Loads a model (by default svc-draw) completely, replacing any other; resolves with the error message, or undefined.
 */
export async function load({ library }: ImageRig, changes: Partial<ImageConfig> = {}): Promise<string | undefined> {
  library.unload();
  const { model, textEncoder, taesd } = DRAW;
  const parts = { path: model, textEncoders: [textEncoder], taesd };
  // Two threads would wait for each other at every operation when another process uses a core.
  library.loadStart({ ...parts, threads: 1, mmap: true, flashAttention: false, upscales: false, ...changes });
  for (;;) {
    const state = library.loadPoll();
    if (state.state === "ready") return undefined;
    if (state.state === "failed") return state.error;
    await Bun.sleep(2);
  }
}

export const options = (changes: Partial<DrawOptions> = {}): DrawOptions => ({
  owner: OWNER,
  prompt: "a red circle on a white background",
  negativePrompt: "",
  width: SIDE,
  height: SIDE,
  seed: 1,
  steps: 2,
  guidance: 1,
  sampler: "euler",
  scheduler: "discrete",
  strength: 0.75,
  previews: 0,
  threads: 1,
  tiles: false,
  adapters: [],
  pictures: [],
  ...changes,
});

/** Draws an image completely. Throws the library's error when it fails. */
export async function draw(rig: ImageRig, changes: Partial<DrawOptions> = {}): Promise<Uint8Array> {
  rig.library.start(options(changes));
  return drawn(rig, changes.owner);
}

/** Waits for the image that this owner has begun. Throws the library's error when it fails. */
export async function drawn({ library }: ImageRig, owner = OWNER): Promise<Uint8Array> {
  for (;;) {
    const state = library.state(owner);
    if (state === "done") return library.take(owner);
    if (typeof state === "object") {
      library.stop(owner);
      throw new Error(state.error);
    }
    await Bun.sleep(2);
  }
}

/** Returns red, green and blue of a pixel. */
export const pixelAt = (pixels: Uint8Array, x: number, y: number, width = SIDE): number[] => [
  ...pixels.subarray((y * width + x) * 3, (y * width + x) * 3 + 3),
];
