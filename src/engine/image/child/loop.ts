// The loop of an image engine: each turn draws one image, or a part of it when other clients have less to draw. Source
// images are decoded for the image that is drawn and for the one after it; those of others are only files.

import { ImageError } from "../../../../ffi/image/api.ts";
import { fieldError, SvcError } from "../../../domain/errors.ts";
import type { ImageSize, ImageWork } from "../../../domain/image.ts";
import type { JobKey } from "../../process/protocol.ts";
import { sendRefusal } from "../../process/refusal.ts";
import { ClientTurns, isSameClient } from "../../process/client-turns.ts";
import type { FromPainter, PictureEvent, PictureJob } from "../protocol.ts";
import { encoded } from "./encode.ts";
import { Painting, type Painted, type Tools } from "./painting.ts";
import { planOf, type Plan } from "./plan.ts";

/** Bounds, in milliseconds, of the time after which a turn may pass to a client that has less to draw. */
const TURN = { least: 1000, most: 4000 };

interface QueuedImage extends PictureJob {
  readonly key: JobKey;
  readonly painting: Painting;
  /** Resolves when all reports so far were sent. */
  readonly reported: () => Promise<void>;
  isAccepted: boolean;
  isStarted: boolean;
}

export class ImageLoop {
  private readonly turns = new ClientTurns<QueuedImage>();
  /** The waiting image whose sources are decoded, or being decoded. */
  private ahead: QueuedImage | undefined;
  private current: QueuedImage | undefined;
  /** Client and milliseconds of the last turn. Not the job, which would keep its source images in memory. */
  private last: { readonly client?: string; readonly ms: number } | undefined;

  constructor(
    private readonly tools: Tools,
    /** The model's name, as clients know it. */
    private readonly model: string,
    private readonly send: (message: FromPainter) => void,
  ) {}

  submit(key: JobKey, job: PictureJob): void {
    try {
      const queued = this.queued(key, job, planOf(job.work, this.tools.painter));
      this.turns.add(queued);
      // One that is near is accepted when its sources are known to be images: until then, a refusal has its own status.
      if (!this.readAhead(queued)) this.accept(queued);
    } catch (error) {
      this.refuse(key, error);
    }
  }

  /** Stops an image. The one being drawn is reported as cancelled once the library has ended it. */
  cancel(key: JobKey): void {
    const waiting = this.turns.find((job) => job.key === key);
    if (waiting) this.take(waiting);
    const job = this.current?.key === key ? this.current : waiting;
    job?.painting.stop();
  }

  /** Computes until the process ends. */
  run(): Promise<never> {
    return this.turns.run(() => this.step());
  }

  /** Takes one turn. */
  async step(): Promise<void> {
    const job = this.turns.next();
    if (!job) return;
    const { key } = job;
    this.take(job);
    this.current = job;
    const begun = this.tools.now();
    // The turn lasts as long as the last one of another client, so that many short images of one client do not take all
    // the time.
    const before = !this.last || isSameClient(this.last, job) ? 0 : this.last.ms;
    const least = Math.min(Math.max(before, TURN.least), TURN.most);
    try {
      await job.painting.prepare();
      this.accept(job);
      if (!job.isStarted) this.send({ type: "started", keys: [key] });
      job.isStarted = true;
      const next = this.turns.peek();
      if (next) this.readAhead(next);
      const isOver = () => this.tools.now() - begun >= least && this.othersHaveLess(job);
      const painted = await job.painting.draw(isOver);
      if (!painted) return this.turns.putBack(job);
      const event = await finished(job, painted, this.model);
      this.send({ type: "events", outputs: [], finished: [{ key, event }] });
    } catch (error) {
      this.refuse(key, error);
    } finally {
      this.current = undefined;
      this.last = { ...(job.client !== undefined && { client: job.client }), ms: this.tools.now() - begun };
    }
  }

  /** Returns whether another client waits for an image with less left to compute than this one. */
  private othersHaveLess(job: QueuedImage): boolean {
    const { left } = job.painting;
    const isFirst = (other: QueuedImage) => !isSameClient(other, job) && other.painting.left < left;
    return this.turns.find(isFirst) !== undefined;
  }

  /** Takes a job that waits out of the queue. */
  private take(job: QueuedImage): void {
    this.turns.remove(job);
    if (this.ahead === job) this.ahead = undefined;
  }

  /** Decodes the sources of a waiting image, unless another's are decoded already. Returns whether it does. */
  private readAhead(job: QueuedImage): boolean {
    if (this.ahead || !job.painting.isUnread) return false;
    this.ahead = job;
    job.painting.prepare().then(
      () => this.accept(job),
      (error: unknown) => {
        // In its own turn, it is refused there.
        if (!this.turns.has(job)) return;
        this.take(job);
        this.refuse(job.key, error);
      },
    );
    return true;
  }

  private accept(job: QueuedImage): void {
    if (!job.isAccepted) this.send({ type: "accepted", key: job.key, event: { type: "accepted" } });
    job.isAccepted = true;
  }

  private queued(key: JobKey, job: PictureJob, plan: Plan): QueuedImage {
    const { image, work } = job;
    const tell = (event: PictureEvent) =>
      this.send({ type: "events", outputs: [{ key, events: [event] }], finished: [] });
    // Encoding a preview takes a while, and reports must stay in order.
    let reported = Promise.resolve();
    const later = (work: () => void | Promise<void>) => {
      reported = reported.then(work);
      // `finished` awaits the reports and so receives the error.
      reported.catch(() => {});
    };
    const painting = new Painting({ key, work, plan }, this.tools, {
      step: (step, steps) => later(() => tell({ type: "progress", image, step, steps })),
      preview: (index, shown, size) =>
        later(async () => {
          const data = await encoded(shown, size, { ...work.encoding, withParameters: false });
          tell({ type: "preview", image, index, data, size });
        }),
    });
    return { ...job, key, painting, reported: () => reported, isAccepted: false, isStarted: false };
  }

  private refuse(key: JobKey, error: unknown): void {
    sendRefusal(this.send, key, known(error), "The image could not be drawn; the log has the details.");
  }
}

/** Translates the library's errors into those that clients receive. */
function known(error: unknown): unknown {
  if (!(error instanceof ImageError)) return error;
  switch (error.code) {
    case "stopped":
      return new SvcError("request_cancelled", "The image is not wanted any more.");
    case "adapter":
      return fieldError("invalid_value", "lora", "must be made for the model: nothing in one of them fits it");
    case "too-long":
      return fieldError("invalid_value", "prompt", `and 'negative_prompt' each ${error.message}`);
    case "no-memory":
      return new SvcError("engine_unavailable", "There is not enough memory to draw an image of this size.");
    default:
      return error;
  }
}

/** Returns the last event of an image. */
async function finished(job: QueuedImage, { pixels, size }: Painted, model: string): Promise<PictureEvent> {
  const { image, work } = job;
  const { encoding, seed } = work;
  await job.reported();
  const data = await encoded(pixels, size, encoding, howOf(work, job.painting.request.plan, size, model));
  return { type: "image", image, data, size, seed };
}

/** Returns the settings that are needed to draw this image again, in the format that other image programs use. */
function howOf(work: ImageWork, plan: Plan, { width, height }: ImageSize, model: string): string {
  const { prompt, negativePrompt, seed, adapters = [], edit } = work;
  const settings = {
    Steps: plan.steps,
    Sampler: plan.sampler,
    "Schedule type": plan.scheduler,
    "CFG scale": plan.guidance,
    Seed: seed,
    Size: `${width}x${height}`,
    ...(edit && !plan.byReference && { "Denoising strength": plan.strength }),
    Model: model,
  };
  const line = Object.entries(settings).map(([name, value]) => `${name}: ${value}`);
  const added = adapters.map(({ name, scale }) => ` <lora:${name}:${scale}>`);
  const negative = negativePrompt ? [`Negative prompt: ${negativePrompt}`] : [];
  return [prompt + added.join(""), ...negative, line.join(", ")].join("\n");
}
