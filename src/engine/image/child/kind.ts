// The image engine's part in its own process: loads a model that draws, and computes.

import { dirname } from "node:path";
import type { ImageTraits } from "../../../../ffi/image/api.ts";
import { openImageLibrary } from "../../../../ffi/image/binding.ts";
import type { ImageModel } from "../../../domain/image.ts";
import { Semaphore } from "../../../domain/semaphore.ts";
import { untilLoaded } from "../../process/child.ts";
import type { EngineKind } from "../../process/kind.ts";
import { othersShare } from "../../process/machine.ts";
import { ABORT_FD } from "../../process/protocol.ts";
import type { PainterOptions, PictureEvent, PictureJob } from "../protocol.ts";
import { habitsOf } from "./families.ts";
import { ImageLoop } from "./loop.ts";

/** Memory for source images that are decoded: enough for one of the largest size. */
const DECODING_BYTES = 600 * 2 ** 20;
/** Longest side, in pixels, in which the demonstration's pictures are delivered. */
const LARGEST_DEMO = 1024;
const DEMO_STEPS = 4;
/** An upscaler's size is that of its source times its scale; how large a source may be is checked elsewhere. */
const UPSCALER = { size: { width: 8192, height: 8192 }, largestSide: 8192, steps: 1, guidance: 1 } as const;

export const imageKind: EngineKind<PainterOptions, ImageModel, PictureJob, PictureEvent> = {
  async load(options, send) {
    const { imageLibrary, modelPath: path, vaePath: vae, taesdPath: taesd, textEncoders } = options;
    const { threads, mmap, flashAttention, adapters, demo, name, upscales = false } = options;
    // Opening the library also unpacks the embedded model, which is in the same component.
    const library = openImageLibrary(dirname(imageLibrary));
    library.listenForAborts(ABORT_FD);
    library.loadStart({
      path,
      ...(vae !== undefined && { vae }),
      ...(taesd !== undefined && { taesd }),
      textEncoders,
      threads,
      mmap,
      flashAttention: flashAttention === "on",
      upscales,
    });
    await untilLoaded(library, send);
    const traits = library.traits();
    const model = describe(options, traits);
    const painter = { model, traits, adapters, ...(demo && { drawsIn: demo }) };
    // All threads of ggml wait for the slowest one, so as many are used as there are idle cores.
    const free = () => Math.max(1, Math.floor(threads * (1 - othersShare(1))));
    const decoding = new Semaphore(DECODING_BYTES);
    const tools = { library, painter, decoding, threads: free, now: () => performance.now() };
    return { ready: model, loop: new ImageLoop(tools, name, send) };
  },
};

function describe({ name, bytes, adapters, demo, upscales }: PainterOptions, traits: ImageTraits): ImageModel {
  const { family, device, sampler, samplers, schedulers, takesReferences, needsReference } = traits;
  const { size, largestSide, steps, guidance } = upscales ? UPSCALER : habitsOf(family, name);
  return {
    family,
    bytes,
    device,
    size: demo ?? size,
    largestSide: demo ? LARGEST_DEMO : largestSide,
    steps: demo ? DEMO_STEPS : steps,
    guidance: demo ? 1 : guidance,
    sampler,
    samplers,
    schedulers,
    adapters: adapters.map((adapter) => adapter.name),
    // The demonstration was not trained to be shown images.
    edits: { mask: !needsReference, references: (takesReferences && !demo) || needsReference },
    ...(demo && { isDemo: true }),
  };
}
