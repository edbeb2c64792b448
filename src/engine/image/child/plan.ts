// Decides what is drawn for a request: its own settings where the model supports them, the model's defaults elsewhere.

import type { DrawOptions, ImageTraits } from "../../../../ffi/image/api.ts";
import { fieldError, invalidValue } from "../../../domain/errors.ts";
import { IMAGE_BOUNDS, type ImageModel, type ImageSize, type ImageWork } from "../../../domain/image.ts";
import type { ImageAdapterFile } from "../protocol.ts";

/** What a model can draw, and with which settings. */
export interface Painter {
  readonly model: ImageModel;
  readonly traits: Pick<ImageTraits, "multiple" | "hasTinyDecoder" | "needsReference" | "scheduler" | "scale">;
  readonly adapters: readonly ImageAdapterFile[];
  /** The only size that the model draws in; other sizes are enlarged from it. */
  readonly drawsIn?: ImageSize;
}

export interface Plan extends Pick<
  DrawOptions,
  "steps" | "guidance" | "sampler" | "scheduler" | "adapters" | "strength"
> {
  /** Size of the file; absent: the size of the image that is changed, as far as the model can draw it. */
  readonly size?: ImageSize;
  /** Whether the model is shown the image to be changed as a reference and draws a new one from it. */
  readonly byReference: boolean;
  /** Factor by which the delivered image is larger than the drawn one. */
  readonly scale: number;
}

const USUAL_STRENGTH = 0.75;

/** Throws SvcError about a setting that the model does not support. */
export function planOf(work: ImageWork, painter: Painter): Plan {
  const { model, traits, adapters } = painter;
  const { edit } = work;
  if (traits.needsReference && !edit)
    throw unsupported("image", "is needed: this model changes images and cannot draw without one");
  const size = work.size ?? (edit ? undefined : model.size);
  if (size) checkSize(size, painter);
  const guidance = work.guidance ?? model.guidance;
  if (work.negativePrompt && !work.takesNoNegative && guidance <= 1) {
    const sentence = `needs a 'cfg_scale' above 1: at ${guidance} it has no effect`;
    throw fieldError("invalid_value", "negative_prompt", sentence);
  }
  const sampler = oneOf("sampler", work.sampler ?? model.sampler, model.samplers);
  return {
    ...(size && { size }),
    steps: work.steps ?? Math.max(1, Math.ceil(model.steps * (work.stepShare ?? 1))),
    guidance,
    sampler,
    scheduler: oneOf("scheduler", work.scheduler ?? traits.scheduler, model.schedulers),
    adapters: (work.adapters ?? []).map(({ name, scale }) => {
      oneOf("lora", name, model.adapters);
      const path = adapters.find((adapter) => adapter.name === name)?.path ?? "";
      return { path, scale: within("lora", scale, -IMAGE_BOUNDS.adapterScale, IMAGE_BOUNDS.adapterScale) };
    }),
    byReference: edit !== undefined && isByReference(edit, painter),
    strength: edit?.strength ?? USUAL_STRENGTH,
    scale: within("scale", work.upscale?.scale ?? traits.scale, 1, traits.scale),
  };
}

/** Models that accept reference images do better with them, unless a part or a share of the image must stay. */
function isByReference(edit: NonNullable<ImageWork["edit"]>, { model: { edits }, traits }: Painter): boolean {
  if (edit.mask && !edits.mask)
    throw unsupported("mask", "is not supported: this model cannot keep a part of an image");
  const isShown = edits.references && edit.strength === undefined && !edit.mask;
  if (edit.references && edit.references.length > 0 && !edits.references) {
    throw unsupported("image", "must be a single one: this model takes no reference images beside the image to change");
  }
  if (edit.strength !== undefined && traits.needsReference) {
    throw unsupported("strength", "is not supported: this model decides by itself how much of an image it replaces");
  }
  return isShown;
}

function checkSize({ width, height }: ImageSize, { model: { largestSide }, traits, drawsIn }: Painter): void {
  const got = `got ${width}x${height}`;
  if (drawsIn && width * drawsIn.height !== height * drawsIn.width) {
    throw invalidSize(`must be as wide as high: this model draws squares; ${got}`);
  }
  const step = drawsIn ? 1 : traits.multiple;
  if (![width, height].every((side) => Number.isInteger(side) && side > 0 && side % step === 0)) {
    throw invalidSize(`must have sides that are multiples of ${step}; ${got}`);
  }
  if (Math.max(width, height) > largestSide) throw invalidSize(`must have sides of at most ${largestSide}; ${got}`);
}

const invalidSize = (rule: string) => fieldError("invalid_value", "size", rule);

const unsupported = (param: string, sentence: string) => fieldError("unsupported_parameter", param, sentence);

function within(param: string, value: number, least: number, most: number): number {
  if (value >= least && value <= most) return value;
  throw invalidValue(param, `be from ${least} to ${most}`, value);
}

/** The error does not repeat the client's text. */
function oneOf(param: string, name: string, known: readonly string[]): string {
  if (known.includes(name)) return name;
  const rule = known.length === 0 ? "is not supported: this model has none" : `must be one of ${known.join(", ")}`;
  throw fieldError("invalid_value", param, rule);
}

/** Returns the sizes in which the image is drawn and delivered. `source`: size of the image that is changed. */
export function sizesOf(plan: Plan, painter: Painter, source?: ImageSize): { drawn: ImageSize; delivered: ImageSize } {
  const { drawsIn } = painter;
  if (drawsIn) return { drawn: drawsIn, delivered: plan.size ?? drawsIn };
  const size = plan.size ?? (source ? fitted(source, painter) : painter.model.size);
  const larger = (side: number) => Math.round(side * plan.scale);
  return { drawn: size, delivered: { width: larger(size.width), height: larger(size.height) } };
}

/** Returns the source's size, reduced to the pixels that the model is made for, in multiples that it draws. */
function fitted({ width, height }: ImageSize, { model, traits: { multiple } }: Painter): ImageSize {
  const most = model.size.width * model.size.height;
  const scale = Math.min(1, Math.sqrt(most / (width * height)));
  const side = (pixels: number) =>
    Math.min(model.largestSide, Math.max(multiple, Math.round((pixels * scale) / multiple) * multiple));
  return { width: side(width), height: side(height) };
}
