// Decodes requests of /v1/images/generations, /v1/images/edits and /v1/images/upscale.

import { ImageEditRequest, ImageRequest, SIDES, UpscaleRequest } from "../../contract/images.ts";
import { checker, received } from "../../contract/schema.ts";
import { given } from "../../domain/defined.ts";
import { fieldError, invalidValue } from "../../domain/errors.ts";
import { LARGEST_SEED, type ImageEncoding, type ImageSize, type ImageWork } from "../../domain/image.ts";
import { formFields } from "../fields/form-body.ts";
import { refuseUnknown } from "../fields/unsupported.ts";

type ImageQuality = "low" | "medium" | "high";

export interface ImageCall {
  readonly model?: string;
  /** The work without its input images. Without a seed, any seed will do. */
  readonly work: Omit<ImageWork, "seed" | "edit"> & { readonly seed?: number };
  /** Absent when the request gives the number of steps itself. */
  readonly quality?: ImageQuality;
  readonly answer: "b64_json" | "url";
  readonly stream: boolean;
  /** Whether each step is an event of the stream. */
  readonly progress: boolean;
}

interface ImageEditCall extends ImageCall {
  readonly strength?: number;
}

/** Types of the form fields that are not strings. */
export const FORM_FIELDS = { ...formFields(ImageEditRequest), ...formFields(UpscaleRequest) };

const checkGeneration = checker(ImageRequest);
const checkEdit = checker(ImageEditRequest);
const checkUpscale = checker(UpscaleRequest);

/** Maps the quality names that clients use. */
const QUALITIES = {
  auto: "medium",
  standard: "medium",
  hd: "high",
  xhigh: "high",
  max: "high",
  low: "low",
  medium: "medium",
  high: "high",
} as const;
/** Number of steps, relative to the steps the model was made for. */
const STEP_SHARES: Readonly<Record<ImageQuality, number>> = { low: 0.5, medium: 1, high: 2 };

/** Decodes a request to generate images. Throws SvcError naming the invalid field. */
export function decodeGeneration(raw: unknown): ImageCall {
  const body = checkGeneration(raw);
  refuseUnknown(body, ImageRequest);
  return callOf(body);
}

/** Decodes the fields of an edit form, without its images. Throws SvcError naming the invalid field. */
export function decodeEdit(form: object): ImageEditCall {
  refuseTexts(form, ["image", "mask"]);
  const body = checkEdit(form);
  refuseUnknown(body, ImageEditRequest);
  return { ...callOf(body), ...given({ strength: body.strength }) };
}

/** Decodes the fields of an upscaling form, without its image. Throws SvcError naming the invalid field. */
export function decodeUpscale(form: object): ImageCall {
  refuseTexts(form, ["image"]);
  const body = checkUpscale(form);
  refuseUnknown(body, UpscaleRequest);
  const { model, scale, response_format } = body;
  return {
    ...(model && { model }),
    work: {
      prompt: "",
      count: 1,
      seed: 0,
      previews: 0,
      upscale: given({ scale }),
      encoding: { ...decodeEncoding(body), withParameters: false },
    },
    answer: response_format ?? "b64_json",
    stream: false,
    progress: false,
  };
}

/** Throws SvcError about files that came as parts without a file name. */
function refuseTexts(form: object, params: readonly string[]): void {
  const param = params.find((name) => name in form);
  if (param !== undefined) throw invalidValue(param, "be a part of the form with a file name", "text");
}

function callOf(body: ImageRequest): ImageCall {
  const { model, negative_prompt, cfg_scale, sampler, scheduler, lora } = body;
  const stream = body.stream ?? false;
  const count = body.n ?? 1;
  const size = decodeSize(body.size);
  const seed = decodeSeed(body.seed, count);
  checkPrompt(body.prompt);
  checkStream(body, stream);
  if (body.background === "transparent") {
    throw unsupported("background", "must be auto or opaque: no model draws transparent images");
  }
  const { quality, ...steps } = decodeSteps(body);
  return {
    ...(model && { model }),
    work: {
      prompt: body.prompt,
      ...(negative_prompt && { negativePrompt: negative_prompt }),
      ...(size && { size }),
      count,
      ...steps,
      ...given({ seed, guidance: cfg_scale, sampler, scheduler }),
      ...(lora && lora.length > 0 && { adapters: lora.map(({ name, scale }) => ({ name, scale: scale ?? 1 })) }),
      previews: body.partial_images ?? 0,
      encoding: decodeEncoding(body),
    },
    ...(quality && { quality }),
    answer: body.response_format ?? "b64_json",
    stream,
    progress: body.progress ?? false,
  };
}

/** Throws SvcError about a blank prompt. */
export function checkPrompt(prompt: string): void {
  if (prompt.trim() !== "") return;
  throw invalidValue("prompt", "describe the image", `${prompt.length} blank characters`);
}

/** Returns the image size; undefined: the model's own. Throws SvcError. */
function decodeSize(size: string | null | undefined): ImageSize | undefined {
  if (size == null || size === "" || size === "auto") return undefined;
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/i.exec(size) ?? [];
  if (width === undefined || height === undefined) {
    throw invalidValue("size", "be auto or WIDTHxHEIGHT in pixels", received(size));
  }
  return checkSize({ width: Number(width), height: Number(height) }, "size");
}

/** Throws SvcError about a size that no model draws. */
export function checkSize({ width, height }: ImageSize, param: string): ImageSize {
  const { least, most, divisor } = SIDES;
  const isGood = [width, height].every((side) => side >= least && side <= most && side % divisor === 0);
  if (isGood) return { width, height };
  const rule = `have sides of ${least} to ${most} pixels that are divisible by ${divisor}`;
  throw invalidValue(param, rule, `${width} × ${height}`);
}

/** Throws SvcError when the last image's seed would exceed the largest seed. */
export function decodeSeed(seed: number | null | undefined, count: number): number | undefined {
  if (seed == null) return undefined;
  if (seed + count - 1 <= LARGEST_SEED) return seed;
  throw invalidValue("seed", `be at most ${LARGEST_SEED - count + 1} for ${count} images`, String(seed));
}

/** Returns the steps for a quality, or the number of steps that the request gives. */
function decodeSteps({
  steps,
  quality,
}: ImageRequest): Pick<ImageCall, "quality"> & Pick<ImageWork, "steps" | "stepShare"> {
  if (steps != null) {
    if (quality == null || quality === "auto") return { steps };
    throw unsupported("quality", "must be auto or absent where 'steps' is given: it stands for a number of these");
  }
  const meant = QUALITIES[quality ?? "auto"];
  const stepShare = STEP_SHARES[meant];
  return { quality: meant, ...(stepShare !== 1 && { stepShare }) };
}

function checkStream({ partial_images, progress, response_format }: ImageRequest, stream: boolean): void {
  if (stream) {
    if (response_format !== "url") return;
    throw unsupported("response_format", "must be b64_json with 'stream': events hold their images");
  }
  const param = partial_images ? "partial_images" : progress ? "progress" : undefined;
  if (param) throw unsupported(param, "needs 'stream' to be true");
}

function decodeEncoding({
  output_format,
  output_compression,
  metadata,
}: Pick<ImageRequest, "output_format" | "output_compression" | "metadata">): ImageEncoding {
  const format = output_format ?? "png";
  if (output_compression != null && format === "png") {
    throw unsupported("output_compression", "needs 'output_format' jpeg or webp: png is lossless");
  }
  return {
    format,
    ...given({ quality: output_compression }),
    withParameters: metadata ?? true,
  };
}

const unsupported = (param: string, sentence: string) => fieldError("unsupported_parameter", param, sentence);
