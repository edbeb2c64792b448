// Draws images from descriptions and edits images: chooses the model, checks the inputs, and manages the files.

import { LARGEST_SEED, type DrawingEvent, type ImageSize, type ImageWork } from "../domain/image.ts";
import type { RequestOrigin } from "../domain/request-origin.ts";
import { noUsage } from "../domain/usage.ts";
import type { ImageStatus } from "../engine/image/port.ts";
import type { KeptImages } from "../store/kept-images.ts";
import type { TemporaryFile, TemporaryFiles } from "../store/temporary-files.ts";
import { checkPictures, picturesOf, type EditedPictures } from "./edited-pictures.ts";
import type { ModelRouter } from "./model-router.ts";
import { namedFile } from "./named-file.ts";
import type { RequestReport, RequestService } from "./request.ts";

interface ImageDeps {
  readonly router: ModelRouter;
  readonly requests: RequestService;
  /** Uploaded images that are being edited. */
  readonly pictures: TemporaryFiles;
  /** Finished images that clients fetch. */
  readonly kept: KeptImages;
}

/** What an image model does: draw, or upscale. */
export type ImageAbility = "images" | "upscaling";

export interface ImageRun extends RequestOrigin {
  readonly model?: string | undefined;
  /** Without a seed, a random one is used. */
  readonly work: Omit<ImageWork, "seed" | "edit"> & { readonly seed?: number };
  /** Images to edit; absent: the images are drawn from the description alone. */
  readonly edit?: EditedPictures & { readonly strength?: number };
  /** Which kind of model to use; default `images`. */
  readonly ability?: ImageAbility;
}

/** Most pixels to upscale: a core computes some hundreds a second, and the result has sixteen times as many. */
const LARGEST_UPSCALED = 1024 ** 2;

export class ImageService {
  constructor(private readonly deps: ImageDeps) {}

  get pictures(): TemporaryFiles {
    return this.deps.pictures;
  }

  get kept(): KeptImages {
    return this.deps.kept;
  }

  /** Throws the error with which a client's request would be refused now for any model: `engine_unavailable`, `server_busy`. */
  checkCapacity(origin: Pick<RequestOrigin, "holder">, ability: ImageAbility = "images"): void {
    const { router, requests } = this.deps;
    requests.checkCapacity(router.findAll(undefined, ability), origin);
  }

  /** Returns the status of the model for a name. Throws SvcError `engine_unavailable` when there is none. */
  model(name?: string, ability: ImageAbility = "images"): ImageStatus {
    return this.deps.router.find(name, ability).engine.status();
  }

  /** Returns the status of each image model. */
  models(): ImageStatus[] {
    const listed = this.deps.router.models(true).filter(({ capabilities }) => capabilities.includes("images"));
    return listed.map(({ id }) => this.model(id));
  }

  /** Stores an image from a request's JSON. Throws SvcError `invalid_value`, `payload_too_large` or `storage_full`. */
  picture(data: string, field: string, signal: AbortSignal): Promise<TemporaryFile> {
    return namedFile({ kind: "data", data, field }, { files: this.pictures }, signal);
  }

  /**
   * Draws images, one after the other, and discards the source images at the end, whatever the outcome. Throws SvcError
   * (`invalid_value` about an image, `engine_unavailable`, `server_busy`, `deadline_exceeded`, `request_cancelled` and
   * what the engine throws), or the signal's reason after an abort.
   */
  async *draw(
    { model, work, edit, ability = "images", ...origin }: ImageRun,
    signal: AbortSignal,
    report: RequestReport,
  ): AsyncGenerator<DrawingEvent, void, void> {
    try {
      const backend = this.deps.router.find(model, ability);
      const whole = { ...work, seed: work.seed ?? anySeed(work.count) };
      const spec = { ...origin, backend };
      const begin = async function* (live: AbortSignal) {
        const size = edit && (await checkPictures(edit, work.upscale ? LARGEST_UPSCALED : undefined));
        const job = { work: { ...whole, ...(size && { edit: sources(edit, size) }) }, client: origin.client };
        yield* backend.engine.run(job, live);
      };
      const of = work.count;
      for await (const event of this.deps.requests.compute(spec, signal, report, begin, () => noUsage())) {
        if (event.type === "accepted") report.progress = { done: 0, of, step: 0, steps: 0 };
        if (event.type === "progress")
          report.progress = { done: event.image, of, step: event.step, steps: event.steps };
        if (event.type === "image") report.progress = { ...report.progress, done: event.image + 1, of, step: 0 };
        yield event;
      }
    } finally {
      if (edit) await Promise.all(picturesOf(edit).map((picture) => picture.discard()));
    }
  }

  /** Releases the stored images and deletes the uploaded ones. */
  close(): void {
    this.deps.kept.close();
    this.deps.pictures.close();
  }
}

const sources = (
  { image, references, mask, strength }: NonNullable<ImageRun["edit"]>,
  storedSize: ImageSize,
): NonNullable<ImageWork["edit"]> => ({
  image: source(image),
  storedSize,
  ...(references.length > 0 && { references: references.map(source) }),
  ...(mask && { mask: source(mask) }),
  ...(strength !== undefined && { strength }),
});

const source = ({ path, field }: TemporaryFile) => ({ path, field });

/** Returns a random seed, low enough that the seeds of all images stay in range. */
const anySeed = (count: number): number =>
  (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) % (LARGEST_SEED - count + 2);
