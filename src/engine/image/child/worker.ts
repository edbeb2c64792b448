// The loop of an image engine: each turn draws an image of one request.

import { ImageError } from "../../../../ffi/image/api.ts";
import { SvcError } from "../../../domain/errors.ts";
import type { ImageModel } from "../../../domain/image.ts";
import type { Pixels } from "../../../media/pixels.ts";
import type { JobKey } from "../../process/protocol.ts";
import { refusalOf } from "../../process/refusal.ts";
import { Turns } from "../../process/turns.ts";
import type { FromPainter, PictureEvent, PictureJob } from "../protocol.ts";
import { encoded } from "./encode.ts";
import { paint, type Request, type Tools } from "./painting.ts";
import { planOf, type Plan } from "./plan.ts";
import { readSources, type Sources } from "./sources.ts";

interface QueuedImage extends PictureJob, Request {}

export class ImageWorker {
  private readonly turns = new Turns<QueuedImage>();
  /** Those that are being prepared; one that is cancelled leaves. */
  private readonly coming = new Set<JobKey>();
  private current: JobKey | undefined;
  /** What the last request with images is made from. */
  private decoded: { readonly request: number; readonly sources: Promise<Sources> } | undefined;

  constructor(
    private readonly tools: Tools,
    private readonly model: ImageModel & { readonly name: string },
    private readonly send: (message: FromPainter) => void,
  ) {}

  submit(key: JobKey, job: PictureJob): void {
    this.coming.add(key);
    this.prepare(key, job).then(
      (request) => {
        if (!this.coming.delete(key)) return;
        this.turns.add({ ...job, ...request });
        this.send({ type: "accepted", key, event: { type: "accepted" } });
      },
      (error: unknown) => {
        if (this.coming.delete(key)) this.refuse(key, error);
      },
    );
  }

  /** Whoever stopped it hears that it has ended. */
  cancel(key: JobKey): void {
    this.coming.delete(key);
    this.turns.remove(this.turns.find((job) => job.key === key));
    if (key === this.current) this.tools.library.stop();
  }

  /** Computes for ever. */
  run(): Promise<never> {
    return this.turns.run(() => this.step());
  }

  /** Takes one turn. */
  async step(): Promise<void> {
    const job = this.turns.next();
    if (!job) return;
    const { key } = job;
    this.turns.remove(job);
    this.current = key;
    this.send({ type: "started", keys: [key] });
    try {
      const event = await this.draw(job);
      this.send({ type: "events", outputs: [], finished: [{ key, event }] });
    } catch (error) {
      this.refuse(key, error);
    } finally {
      this.current = undefined;
      if (job.image === job.work.count - 1 && this.decoded?.request === job.request) this.decoded = undefined;
    }
  }

  private async prepare(key: JobKey, { work, request }: PictureJob): Promise<Request> {
    const plan = planOf(work, this.tools.painter);
    if (!work.edit) return { key, work, plan };
    if (this.decoded?.request !== request) this.decoded = { request, sources: readSources(work.edit) };
    return { key, work, plan, sources: await this.decoded.sources };
  }

  private async draw(job: QueuedImage): Promise<PictureEvent> {
    const { key, image, work, plan } = job;
    const { encoding, seed } = work;
    const tell = (event: PictureEvent) =>
      this.send({ type: "events", outputs: [{ key, events: [event] }], finished: [] });
    // A file takes a while to write, and what is told must stay in order.
    let told = Promise.resolve();
    const later = (work: () => void | Promise<void>) => {
      told = told.then(work);
      // Whoever waits for it below hears of it.
      told.catch(() => {});
    };
    const { pixels, size } = await paint(job, this.tools, {
      step: (step, steps) => later(() => tell({ type: "progress", image, step, steps })),
      preview: (index, shown, size) =>
        later(async () => {
          const data = await encoded(shown, size, { ...encoding, tellsHow: false });
          tell({ type: "preview", image, index, data, size });
        }),
    });
    await told;
    const data = await encoded(pixels, size, encoding, howOf(work, plan, pixels, this.model.name));
    return { type: "image", image, data, size, seed };
  }

  private refuse(key: JobKey, error: unknown): void {
    const message = "The image could not be drawn; the log has the details.";
    for (const refusal of refusalOf(key, error instanceof ImageError ? known(error) : error, message))
      this.send(refusal);
  }
}

/** What the library ends a job with, as clients are to hear of it. */
function known(error: ImageError): Error {
  switch (error.code) {
    case "stopped":
      return new SvcError("request_cancelled", "The image is not wanted any more.");
    case "adapter":
      return new SvcError("invalid_value", "'lora' must be made for the model: nothing in one of them fits it.", {
        param: "lora",
      });
    case "no-memory":
      return new SvcError("engine_unavailable", "There is not enough memory to draw an image of this size.");
    default:
      return error;
  }
}

/** As programs write it that draw images: what is needed to draw this one again. */
function howOf(
  { prompt, negativePrompt, seed }: QueuedImage["work"],
  plan: Plan,
  drawn: Pixels,
  model: string,
): string {
  const settings = {
    Steps: plan.steps,
    Sampler: plan.sampler,
    "Schedule type": plan.scheduler,
    "CFG scale": plan.guidance,
    Seed: seed,
    Size: `${drawn.width}x${drawn.height}`,
    Model: model,
  };
  const line = Object.entries(settings).map(([name, value]) => `${name}: ${value}`);
  return [prompt, ...(negativePrompt ? [`Negative prompt: ${negativePrompt}`] : []), line.join(", ")].join("\n");
}
