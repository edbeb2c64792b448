// An image on its way through the library: from a plan and its sources to pixels, with reports on the way, in one go or in several.

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

export interface Painted {
  readonly pixels: Pixels;
  /** What is made of it in the end. */
  readonly size: ImageSize;
}

interface Reports {
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
  /** Milliseconds. */
  readonly now: () => number;
}

export class Painting {
  private readonly sizes: ReturnType<typeof sizesOf>;
  /** What it is made from, once it was begun. */
  private pictures: readonly Picture[] | undefined;
  private step = 0;
  /** Share of its steps. */
  private done = 0;
  private shown = 0;

  constructor(
    readonly request: Request,
    private readonly tools: Tools,
    private readonly reports: Reports,
  ) {
    this.sizes = sizesOf(request.plan, tools.painter, request.sources?.image);
  }

  /** What there is still to compute, in pixels of steps: for comparing. */
  get left(): number {
    const { plan } = this.request;
    const { drawn } = this.sizes;
    const passes = plan.guidance > 1 ? 2 : 1;
    return (1 - this.done) * plan.steps * passes * drawn.width * drawn.height;
  }

  /**
   * Draws until the image is done; undefined: until a step was done when `isOver` held, and it goes on with the next call.
   * Throws ImageError, with the code `stopped` after `library.stop()` or an abort request.
   */
  async draw(isOver: () => boolean): Promise<Painted | undefined> {
    const { library, threads, traits } = this.tools;
    const { key } = this.request;
    if (this.pictures) library.resume(key, threads());
    else this.pictures = await this.begin();
    if (!(await this.follow(isOver))) return undefined;
    const { drawn, delivered } = this.sizes;
    const made = { width: drawn.width * traits.scale, height: drawn.height * traits.scale };
    return { pixels: { ...made, rgb: withKept(this.pictures, library.take(key)) }, size: delivered };
  }

  private async begin(): Promise<readonly Picture[]> {
    const { plan, work, key, sources } = this.request;
    const { library, traits, threads } = this.tools;
    const { drawn } = this.sizes;
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
    return pictures;
  }

  /** Resolves with true when the image is done, with false when it has paused. */
  private async follow(isOver: () => boolean): Promise<boolean> {
    const { library } = this.tools;
    const { key } = this.request;
    for (let pauses = false; ;) {
      const state = library.state(key);
      if (typeof state === "object") {
        library.stop(key);
        throw new ImageError(state.error, state.code);
      }
      // It was stopped, and has ended.
      if (state === "none") throw new ImageError("the image was stopped", "stopped");
      const now = progressOf(library, key);
      if (now && now.previews > this.shown) {
        this.shown = now.previews;
        const { width, height } = now;
        this.reports.preview(this.shown - 1, { width, height, rgb: library.preview(key) }, this.sizes.delivered);
      }
      while (now && this.step < now.step) this.reports.step(++this.step, now.steps);
      // Tiles of an image that is made larger are reported as steps, and how many there are is known once the first is done.
      if (now && now.steps > 0) this.done = now.step / now.steps;
      if (state !== "drawing") return state === "done";
      if (!pauses && isOver()) {
        library.pause(key);
        pauses = true;
      }
      await Bun.sleep(POLL_MS);
    }
  }
}

/** What was drawn, with the pixels that a mask keeps. */
function withKept(pictures: readonly Picture[], rgb: Uint8Array): Uint8Array {
  const mask = pictures.find(({ use }) => use === "mask");
  const image = pictures.find(({ use }) => use === "image");
  return mask && image ? composed(rgb, image.pixels, mask.pixels) : rgb;
}

async function picturesOf({ image, references, mask }: Sources, plan: Plan, size: ImageSize): Promise<Picture[]> {
  const shown = references.map(({ width, height, rgb }) => ({ use: "reference" as const, width, height, pixels: rgb }));
  const { rgb } = await resized(image, size);
  const own = { use: plan.byReference ? ("reference" as const) : ("image" as const), ...size, pixels: rgb };
  const kept = mask ? [{ use: "mask" as const, ...size, pixels: maskFor(mask, image, size) }] : [];
  return [own, ...kept, ...shown];
}

/** Undefined of one that was stopped and has not ended. */
function progressOf(library: ImageLibrary, key: JobKey) {
  try {
    return library.progress(key);
  } catch (error) {
    if (error instanceof ImageError) return undefined;
    throw error;
  }
}
