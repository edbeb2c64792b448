// Draws images from descriptions and edits images: chooses the model, checks the inputs, and manages the files.

import { LARGEST_SEED, type DrawingEvent, type ImageWork } from "../domain/image.ts";
import type { RequestOrigin } from "../domain/request-origin.ts";
import { noUsage } from "../domain/usage.ts";
import type { ImageJob, ImagePort, ImageStatus } from "../engine/image/port.ts";
import type { KeptImages } from "../store/kept-images.ts";
import type { TemporaryFile, TemporaryFiles } from "../store/temporary-files.ts";
import { gauge, type Metric, type MetricTable } from "../telemetry/exposition.ts";
import { subjectLabels } from "../telemetry/metrics.ts";
import { checkPictures, picturesOf, type EditedPictures } from "./edited-pictures.ts";
import { ImageProgresses } from "./image-progress.ts";
import type { Backend, ModelRouter } from "./model-router.ts";
import { namedFile } from "./named-file.ts";
import type { Admitting, RequestReport, RequestService, RequestSpec } from "./request.ts";

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
  /** Progress by engine. */
  private readonly progresses = new Map<ImagePort, ImageProgresses>();

  constructor(private readonly deps: ImageDeps) {}

  get pictures(): TemporaryFiles {
    return this.deps.pictures;
  }

  get kept(): KeptImages {
    return this.deps.kept;
  }

  /** Throws the error with which a request would be refused now for any model: `engine_unavailable`, `server_busy`. */
  checkCapacity(ability: ImageAbility = "images"): void {
    const { router, requests } = this.deps;
    requests.checkCapacity(...router.findAll(undefined, ability).map((backend) => this.admitting(backend)));
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
    { model, work, edit, ability = "images", id, client, deadline }: ImageRun,
    signal: AbortSignal,
    report: RequestReport,
  ): AsyncGenerator<DrawingEvent, void, void> {
    try {
      const backend = this.deps.router.find(model, ability);
      if (edit) await checkPictures(edit, work.upscale ? LARGEST_UPSCALED : undefined);
      const whole = { ...work, seed: work.seed ?? anySeed(work.count), ...(edit && { edit: sources(edit) }) };
      const job = { work: whole, client };
      yield* this.run(backend, job, { id, client, deadline }, signal, report);
    } finally {
      if (edit) await Promise.all(picturesOf(edit).map((picture) => picture.discard()));
    }
  }

  /** Releases the stored images and deletes the uploaded ones. */
  close(): void {
    this.deps.kept.close();
    this.deps.pictures.close();
  }

  /** Returns metrics of the outstanding work of each engine. */
  metrics(): MetricTable[] {
    return this.models().map(({ modelId, stepSeconds }) => {
      const { engine } = this.deps.router.find(modelId, "images");
      const left = this.progressesOf(engine).stepsLeft;
      return {
        labels: subjectLabels({ kind: "image", model: modelId }),
        metrics: drawingMetrics(left, stepSeconds),
      };
    });
  }

  private async *run(
    backend: Backend<ImagePort>,
    job: ImageJob,
    origin: Pick<RequestSpec, "id" | "client" | "deadline">,
    signal: AbortSignal,
    report: RequestReport,
  ): AsyncGenerator<DrawingEvent, void, void> {
    const { engine } = backend;
    const progresses = this.progressesOf(engine);
    const spec = { ...origin, backend: this.admitting(backend) };
    const begin = (live: AbortSignal) => engine.run(job, live);
    const drawing = progresses.begin(job.work.count);
    try {
      for await (const event of this.deps.requests.compute(spec, signal, report, begin, () => noUsage())) {
        drawing.see(event);
        if (event.type === "accepted") report.progress = drawing;
        yield event;
      }
    } finally {
      progresses.end(drawing);
    }
  }

  /** Uses the progress of an engine's requests to estimate when a place is free. */
  private admitting({ engine, parallel, subject }: Backend<ImagePort>): Admitting {
    return { engine: this.progressesOf(engine), parallel, ...(subject && { subject }) };
  }

  private progressesOf(engine: ImagePort): ImageProgresses {
    const known = this.progresses.get(engine);
    if (known) return known;
    const made = new ImageProgresses(() => engine.status().stepSeconds);
    this.progresses.set(engine, made);
    return made;
  }
}

const sources = ({
  image,
  references,
  mask,
  strength,
}: NonNullable<ImageRun["edit"]>): NonNullable<ImageWork["edit"]> => ({
  image: source(image),
  ...(references.length > 0 && { references: references.map(source) }),
  ...(mask && { mask: source(mask) }),
  ...(strength !== undefined && { strength }),
});

const source = ({ path, field }: TemporaryFile) => ({ path, field });

/** Returns a random seed, low enough that the seeds of all images stay in range. */
const anySeed = (count: number): number =>
  (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) % (LARGEST_SEED - count + 2);

/** Returns metrics of the steps left to draw; `stepSeconds` is undefined until a step was measured. */
export const drawingMetrics = (left: number, stepSeconds: number | undefined): Metric[] => [
  gauge("svc_image_steps_left", "Remaining steps of the requests that are being drawn.", left),
  ...(stepSeconds === undefined ? [] : [gauge("svc_image_step_seconds", "Recent seconds per step.", stepSeconds)]),
];
