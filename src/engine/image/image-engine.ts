// Runs a model that draws in a process of its own. A request for several images is sent there image by image.

import type { ImageEvent, ImageModel } from "../../domain/image.ts";
import { counter, gauge, type Metric } from "../../telemetry/exposition.ts";
import { LazyEngine, type KnownModel, type LazyEngineOptions } from "../process/lazy-engine.ts";
import type { ImageJob, ImagePort, ImageStatus } from "./port.ts";
import type { PainterOptions, PictureEvent, PictureJob } from "./protocol.ts";

type ImageEngineOptions = LazyEngineOptions<PainterOptions, KnownModel>;

/** Weight of the latest step in the moving average of step times. */
const SHARE = 0.3;

export class ImageEngine
  extends LazyEngine<PainterOptions, KnownModel, ImageModel, PictureJob, PictureEvent>
  implements ImagePort
{
  private images = 0;
  private steps = 0;
  private stepSeconds: number | undefined;
  /** Of each request that is being drawn, once its first step is done. */
  private readonly stepsLeft = new Map<ImageJob, number>();
  private lastStep: { readonly job: PictureJob; readonly at: number } | undefined;

  constructor(options: ImageEngineOptions) {
    super("image", { needBytes: options.engine.bytes, ...options });
  }

  override status(): ImageStatus {
    return {
      ...super.status(),
      ...(this.options.engine.demo && { isDemo: true }),
      ...(this.loaded && { model: this.loaded, device: this.loaded.device }),
      ...(this.stepSeconds !== undefined && { stepSeconds: this.stepSeconds }),
    };
  }

  async *run(request: ImageJob, signal: AbortSignal): AsyncGenerator<ImageEvent, void, void> {
    const { work, client } = request;
    // The process stays loaded between two images even if the reader is slow.
    const release = this.keep();
    try {
      for (let image = 0; image < work.count; image++) {
        const own = { ...work, seed: work.seed + image };
        const job = { image, work: own, client };
        for await (const event of this.watched(job, signal)) {
          if (event.type === "progress") {
            this.stepsLeft.set(request, (work.count - image) * event.steps - event.step);
          }
          const isKnown = event.type === "accepted" || event.type === "started";
          if (image === 0 || !isKnown) yield event;
        }
      }
    } finally {
      this.stepsLeft.delete(request);
      release();
    }
    yield { type: "result" };
  }

  /** Requests take turns: the one with the fewest steps left ends first. */
  placeFreeMs(): number | undefined {
    const { stepSeconds } = this;
    const left = [...this.stepsLeft.values()];
    if (left.length === 0 || stepSeconds === undefined) return undefined;
    return Math.min(...left) * left.length * stepSeconds * 1000;
  }

  override metrics(): Metric[] {
    const { images, steps, stepSeconds } = this;
    const left = [...this.stepsLeft.values()].reduce((sum, some) => sum + some, 0);
    return [...super.metrics(), ...drawnMetrics({ images, steps, left, stepSeconds })];
  }

  /** Passes on the events of an image and measures how long its steps take. */
  private async *watched(job: PictureJob, signal: AbortSignal): AsyncGenerator<PictureEvent, void, void> {
    const { clock } = this.options.launch;
    for await (const event of this.runJob(job, signal)) {
      if (event.type === "progress") {
        const at = clock.now();
        this.steps++;
        // Only consecutive steps of one image are measured: a first step includes the work before it, and other images
        // may be drawn in between.
        if (this.lastStep?.job === job) this.noteStep((at - this.lastStep.at) / 1000);
        this.lastStep = { job, at };
      }
      if (event.type === "image") this.images++;
      yield event;
    }
  }

  private noteStep(seconds: number): void {
    this.stepSeconds =
      this.stepSeconds === undefined ? seconds : this.stepSeconds + SHARE * (seconds - this.stepSeconds);
  }
}

/** What an engine has drawn, and the steps it has left to draw. */
interface Drawn {
  readonly images: number;
  readonly steps: number;
  readonly left: number;
  /** Undefined until a step was measured. */
  readonly stepSeconds: number | undefined;
}

export const drawnMetrics = ({ images, steps, left, stepSeconds }: Drawn): Metric[] => [
  counter("svc_images_total", "Images that were drawn.", images),
  counter("svc_image_steps_total", "Steps of images that were computed.", steps),
  gauge("svc_image_steps_left", "Remaining steps of the requests that are being drawn.", left),
  ...(stepSeconds === undefined ? [] : [gauge("svc_image_step_seconds", "Recent seconds per step.", stepSeconds)]),
];
