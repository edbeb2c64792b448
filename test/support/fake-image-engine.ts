// An image engine in memory, for tests of everything above its port. An image is a text that names its seed.

import type { ImageEvent, ImageModel, ImageWork } from "../../src/domain/image.ts";
import type { ImageJob, ImagePort, ImageStatus } from "../../src/engine/image/port.ts";
import { FakeEngine } from "./fake-engine.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

export class FakeDrawer extends FakeEngine implements ImagePort {
  isDemo: true | undefined;
  stepSeconds: number | undefined;
  placeFreeMs?: () => number | undefined;
  readonly known: ImageModel = {
    family: "Fake diffusion",
    bytes: 1000,
    device: "CPU",
    size: { width: 128, height: 64 },
    largestSide: 512,
    steps: 2,
    guidance: 1,
    sampler: "euler",
    samplers: ["euler", "euler_a"],
    schedulers: ["simple"],
    adapters: ["ink"],
    edits: { mask: true, references: false },
  };
  /** The requests received, in order, with the contents of their files. */
  readonly asked: (ImageWork & { readonly client?: string; readonly files: readonly string[] })[] = [];
  /** The file of the image with this seed. */
  draw = (seed: number): Uint8Array => bytes(`image ${seed}`);
  /** Thrown instead of accepting a request. */
  refusal: Error | undefined;
  /** Thrown after the first image. */
  failure: Error | undefined;

  status(): ImageStatus {
    return {
      ...this.plain,
      ...(this.isDemo && { isDemo: this.isDemo }),
      ...(this.state === "ready" && { model: this.known }),
      ...(this.stepSeconds !== undefined && { stepSeconds: this.stepSeconds }),
    };
  }

  async *run({ work, client }: ImageJob, signal: AbortSignal): AsyncGenerator<ImageEvent, void, void> {
    signal.throwIfAborted();
    this.state = "ready";
    const { image, references = [], mask } = work.edit ?? {};
    const sources = [...(image ? [image] : []), ...references, ...(mask ? [mask] : [])];
    const files = await Promise.all(sources.map(({ path }) => Bun.file(path).text()));
    this.asked.push({ ...work, files, ...(client !== undefined && { client }) });
    if (this.refusal) throw this.refusal;
    yield { type: "accepted" };
    yield { type: "started" };
    const steps = work.steps ?? Math.max(1, Math.ceil(this.known.steps * (work.stepShare ?? 1)));
    const size = work.size ?? this.known.size;
    for (let image = 0; image < work.count; image++) {
      for (let step = 1; step <= steps; step++) {
        await this.opened(signal);
        yield { type: "progress", image, step, steps };
        const index = step - 1;
        if (index < work.previews && step < steps)
          yield { type: "preview", image, index, data: bytes(`preview ${index}`), size };
      }
      const seed = work.seed + image;
      yield { type: "image", image, data: this.draw(seed), size, seed };
      if (this.failure) throw this.failure;
    }
    yield { type: "result" };
  }
}
