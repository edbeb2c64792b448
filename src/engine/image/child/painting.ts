// Draws one image with the library: from a plan and its sources to pixels, told on the way.

import { ImageError, type ImageLibrary, type ImageTraits, type Picture } from "../../../../ffi/image/api.ts";
import type { ImageSize, ImageWork } from "../../../domain/image.ts";
import type { Pixels } from "../../../media/pixels.ts";
import { availableMemory } from "../../process/memory.ts";
import type { JobKey } from "../../process/protocol.ts";
import { sizesOf, type Painter, type Plan } from "./plan.ts";
import { composed, maskFor, resized, type Sources } from "./sources.ts";

const POLL_MS = 5;
/**
 * What a large decoder takes for each pixel at its widest layer: 128 channels, their neighbours in a convolution, and what it
 * makes of them.
 */
const DECODER_BYTES = 4096;

export interface Painting {
  readonly pixels: Pixels;
  /** What is made of it in the end. */
  readonly size: ImageSize;
}

export interface Told {
  readonly step: (step: number, steps: number) => void;
  /** The image as it is now, the first time with 0. */
  readonly preview: (index: number, pixels: Pixels, size: ImageSize) => void;
}

export interface Request {
  readonly key: JobKey;
  readonly work: ImageWork;
  readonly plan: Plan;
  readonly sources?: Sources;
}

export interface Tools {
  readonly library: ImageLibrary;
  readonly traits: ImageTraits;
  readonly painter: Painter;
  /** Threads to compute with at this moment. */
  readonly threads: () => number;
}

/** Throws ImageError, with the code `stopped` after `library.stop()` or an abort request. */
export async function paint(request: Request, tools: Tools, told: Told): Promise<Painting> {
  const { plan, work, key, sources } = request;
  const { library, traits, painter, threads } = tools;
  const { drawn, delivered } = sizesOf(plan, painter, sources?.image);
  const pictures = sources ? await picturesOf(sources, plan, drawn) : [];
  library.start({
    owner: key,
    prompt: work.prompt,
    negativePrompt: work.negativePrompt ?? "",
    ...drawn,
    seed: work.seed,
    steps: plan.steps,
    guidance: plan.guidance,
    sampler: plan.sampler,
    scheduler: plan.scheduler,
    strength: plan.strength,
    previews: work.previews,
    threads: threads(),
    tiles: !traits.hasTinyDecoder && drawn.width * drawn.height * DECODER_BYTES > availableMemory(),
    adapters: plan.adapters,
    pictures,
  });
  await follow(library, told, delivered);
  const rgb = library.take();
  const mask = pictures.find(({ use }) => use === "mask");
  const image = pictures.find(({ use }) => use === "image");
  const whole = mask && image ? composed(rgb, image.pixels, mask.pixels) : rgb;
  const made = { width: drawn.width * traits.scale, height: drawn.height * traits.scale };
  return { pixels: { ...made, rgb: whole }, size: delivered };
}

async function picturesOf({ image, references, mask }: Sources, plan: Plan, size: ImageSize): Promise<Picture[]> {
  const shown = references.map(({ width, height, rgb }) => ({ use: "reference" as const, width, height, pixels: rgb }));
  const { rgb } = await resized(image, size);
  const own = { use: plan.byReference ? ("reference" as const) : ("image" as const), ...size, pixels: rgb };
  const kept = mask ? [{ use: "mask" as const, ...size, pixels: maskFor(mask, image, size) }] : [];
  return [own, ...kept, ...shown];
}

/** Resolves when the image is done. */
async function follow(library: ImageLibrary, told: Told, size: ImageSize): Promise<void> {
  for (let [step, shown] = [0, 0]; ;) {
    const state = library.state();
    if (typeof state === "object") {
      library.stop();
      throw new ImageError(state.error, state.code);
    }
    // It was stopped, and has ended.
    if (state === "none") throw new ImageError("the image was stopped", "stopped");
    const now = progressOf(library);
    if (now && now.previews > shown) {
      shown = now.previews;
      const { width, height } = now;
      told.preview(shown - 1, { width, height, rgb: library.preview() }, size);
    }
    for (; now && step < now.step;) told.step(++step, now.steps);
    if (state === "done") return;
    await Bun.sleep(POLL_MS);
  }
}

/** Undefined of one that was stopped and has not ended. */
function progressOf(library: ImageLibrary) {
  try {
    return library.progress();
  } catch (error) {
    if (error instanceof ImageError) return undefined;
    throw error;
  }
}
