// Takes an image through the library: from a plan and sources to pixels, in one or several turns, with progress.

import { ImageError, type ImageLibrary, type Picture } from "../../../../ffi/image/api.ts";
import type { ImageSize, ImageWork } from "../../../domain/image.ts";
import type { Pixels } from "../../../media/pixels.ts";
import { availableMemory } from "../../process/machine.ts";
import type { Semaphore } from "../../../domain/semaphore.ts";
import type { JobKey } from "../../process/protocol.ts";
import { sizesOf, type Painter, type Plan } from "./plan.ts";
import { composed, maskFor, readSources, resized, type Sources } from "./sources.ts";

const POLL_MS = 5;
/**
 * Bytes that a large decoder needs for each pixel at its widest layer: 128 channels, their neighbours in a convolution,
 * and the results.
 */
const DECODER_BYTES = 4096;

export interface Painted {
  readonly pixels: Pixels;
  /** The size in which the image is delivered. */
  readonly size: ImageSize;
}

interface Reports {
  readonly step: (step: number, steps: number) => void;
  /** The image in its present state; `index` counts from 0. */
  readonly preview: (index: number, pixels: Pixels, size: ImageSize) => void;
}

export interface Request {
  readonly key: JobKey;
  readonly work: ImageWork;
  readonly plan: Plan;
}

export interface Tools {
  readonly library: ImageLibrary;
  readonly painter: Painter;
  /** Memory for source images that are decoded. */
  readonly decoding: Semaphore;
  /** How many threads to compute with at this moment. */
  readonly threads: () => number;
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number;
}

/** What a mask keeps of the original, in the delivered size. */
interface Kept {
  readonly rgb: Uint8Array;
  /** 255 where the image is drawn anew. */
  readonly mask: Uint8Array;
}

export class Painting {
  /** Until the source image is decoded, width and height may be swapped. */
  private sizes: ReturnType<typeof sizesOf>;
  private prepared: Promise<void> | undefined;
  private pictures: readonly Picture[] = [];
  private kept: Kept | undefined;
  private readonly unwanted = new AbortController();
  private hasBegun = false;
  private step = 0;
  /** Share of its steps that are done, 0 to 1. */
  private done = 0;
  private shown = 0;

  constructor(
    readonly request: Request,
    private readonly tools: Tools,
    private readonly reports: Reports,
  ) {
    this.sizes = sizesOf(request.plan, tools.painter, request.work.edit?.storedSize);
  }

  /** Whether its source images are still only files. */
  get isUnread(): boolean {
    return this.request.work.edit !== undefined && !this.prepared;
  }

  /** How much there is still to compute, in pixels times steps; only for comparing with other images. */
  get left(): number {
    const { plan } = this.request;
    const { drawn } = this.sizes;
    const passes = plan.guidance > 1 ? 2 : 1;
    return (1 - this.done) * plan.steps * passes * drawn.width * drawn.height;
  }

  /** Decodes the source images, once. Throws SvcError about one of them, or ImageError after `stop`. */
  prepare(): Promise<void> {
    return (this.prepared ??= this.read());
  }

  /** Ends all work on an image that is not wanted any more. */
  stop(): void {
    this.unwanted.abort(new ImageError("the image was stopped", "stopped"));
    if (this.hasBegun) this.tools.library.stop(this.request.key);
  }

  /**
   * Draws until the image, which must be prepared, is done. Returns undefined when `isOver` returned true: drawing then
   * pauses after a step, and the next call resumes it. Throws ImageError, with the code `stopped` after `stop()` or an
   * abort request.
   */
  async draw(isOver: () => boolean): Promise<Painted | undefined> {
    const { library, threads, painter } = this.tools;
    const { key } = this.request;
    if (this.hasBegun) library.resume(key, threads());
    else this.begin();
    if (!(await this.follow(isOver))) return undefined;
    const { drawn, delivered } = this.sizes;
    const { scale } = painter.traits;
    const made = { width: drawn.width * scale, height: drawn.height * scale };
    return { pixels: await this.withKept({ ...made, rgb: library.take(key) }), size: delivered };
  }

  private async read(): Promise<void> {
    const { plan, work } = this.request;
    if (!work.edit) return;
    const { painter, decoding } = this.tools;
    const sources = await readSources(work.edit, decoding, this.unwanted.signal);
    const { image, mask } = sources;
    this.sizes = sizesOf(plan, painter, image);
    const { drawn, delivered } = this.sizes;
    // Only these are kept, which are small: the image may wait for long, or pause.
    this.pictures = await picturesOf(sources, plan, drawn);
    if (mask) this.kept = { rgb: (await resized(image, delivered)).rgb, mask: maskFor(mask, delivered) };
  }

  private begin(): void {
    const { plan, work, key } = this.request;
    const { library, painter, threads } = this.tools;
    const { drawn } = this.sizes;
    this.unwanted.signal.throwIfAborted();
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
      tiles: !painter.traits.hasTinyDecoder && drawn.width * drawn.height * DECODER_BYTES > availableMemory(),
      adapters: plan.adapters,
      pictures: this.pictures,
    });
    this.pictures = [];
    this.hasBegun = true;
  }

  /** Returns the pixels; with a mask, in the delivered size, with the original's wherever the mask keeps them. */
  private async withKept(pixels: Pixels): Promise<Pixels> {
    const { kept } = this;
    const { delivered } = this.sizes;
    if (!kept) return pixels;
    const drawn = await resized(pixels, delivered);
    return { ...delivered, rgb: composed(drawn.rgb, kept.rgb, kept.mask) };
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
      // The image was stopped and has ended.
      if (state === "none") throw new ImageError("the image was stopped", "stopped");
      const now = progressOf(library, key);
      if (now && now.previews > this.shown) {
        this.shown = now.previews;
        const { width, height } = now;
        this.reports.preview(this.shown - 1, { width, height, rgb: library.preview(key) }, this.sizes.delivered);
      }
      while (now && this.step < now.step) this.reports.step(++this.step, now.steps);
      // When an image is enlarged, its tiles are reported as steps; their number is known only after the first one.
      if (now && now.steps > 0) this.done = now.step / now.steps;
      if (state !== "drawing") return state === "done";
      // An image that was stopped cannot pause.
      if (now && !pauses && isOver()) {
        library.pause(key);
        pauses = true;
      }
      await Bun.sleep(POLL_MS);
    }
  }
}

async function picturesOf({ image, references, mask }: Sources, plan: Plan, size: ImageSize): Promise<Picture[]> {
  const shown = references.map(({ width, height, rgb }) => ({ use: "reference" as const, width, height, pixels: rgb }));
  const { rgb } = await resized(image, size);
  const own = { use: plan.byReference ? ("reference" as const) : ("image" as const), ...size, pixels: rgb };
  const kept = mask ? [{ use: "mask" as const, ...size, pixels: maskFor(mask, size) }] : [];
  return [own, ...kept, ...shown];
}

/** Returns undefined for an image that was stopped and has not ended yet. */
function progressOf(library: ImageLibrary, key: JobKey) {
  try {
    return library.progress(key);
  } catch (error) {
    if (error instanceof ImageError) return undefined;
    throw error;
  }
}
