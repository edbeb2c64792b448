// An image on its way through the library: from a plan and its sources to pixels, told on the way, in one go or in several.

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
  /** Milliseconds. */
  readonly now: () => number;
}

/** What a painting is of, once it is known. */
interface Canvas {
  readonly drawn: ImageSize;
  readonly delivered: ImageSize;
  readonly pictures: readonly Picture[];
}

export class Painting {
  private canvas: Canvas | undefined;
  private step = 0;
  private shown = 0;

  constructor(
    readonly request: Request,
    private readonly tools: Tools,
    private readonly told: Told,
  ) {}

  /** What there is still to compute, in pixels of steps: for comparing. */
  get left(): number {
    const { plan, sources } = this.request;
    const { drawn } = this.canvas ?? sizesOf(plan, this.tools.painter, sources?.image);
    const passes = plan.guidance > 1 ? 2 : 1;
    return (plan.steps - this.step) * passes * drawn.width * drawn.height;
  }

  /**
   * Draws until the image is done; undefined: until a step was done when `isOver` held, and it goes on with the next call.
   * Throws ImageError, with the code `stopped` after `library.stop()` or an abort request.
   */
  async draw(isOver: () => boolean): Promise<Painted | undefined> {
    const { library, traits, threads } = this.tools;
    const { key } = this.request;
    if (this.canvas) library.resume(key, threads());
    else this.canvas = await this.begin();
    const isDone = await this.follow(this.canvas, isOver);
    return isDone ? painted(this.canvas, traits.scale, library.take(key)) : undefined;
  }

  private async begin(): Promise<Canvas> {
    const { plan, work, key, sources } = this.request;
    const { library, traits, painter, threads } = this.tools;
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
    return { drawn, delivered, pictures };
  }

  /** Resolves with true when the image is done, with false when it has paused. */
  private async follow({ delivered }: Canvas, isOver: () => boolean): Promise<boolean> {
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
        this.told.preview(this.shown - 1, { width, height, rgb: library.preview(key) }, delivered);
      }
      while (now && this.step < now.step) this.told.step(++this.step, now.steps);
      if (state !== "drawing") return state === "done";
      if (!pauses && isOver()) {
        library.pause(key);
        pauses = true;
      }
      await Bun.sleep(POLL_MS);
    }
  }
}

/** `scale`: how many times as large as the canvas the image is. */
function painted({ drawn, delivered, pictures }: Canvas, scale: number, rgb: Uint8Array): Painted {
  const mask = pictures.find(({ use }) => use === "mask");
  const image = pictures.find(({ use }) => use === "image");
  const whole = mask && image ? composed(rgb, image.pixels, mask.pixels) : rgb;
  const made = { width: drawn.width * scale, height: drawn.height * scale };
  return { pixels: { ...made, rgb: whole }, size: delivered };
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
