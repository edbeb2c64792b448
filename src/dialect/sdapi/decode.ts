// Decodes requests of /sdapi/v1/txt2img and /sdapi/v1/img2img.

import { MOST_IMAGES } from "../../contract/images.ts";
import { checker, received } from "../../contract/schema.ts";
import { ImageToImageRequest, SdapiOptionsRequest, TextToImageRequest } from "../../contract/sdapi.ts";
import { given } from "../../domain/defined.ts";
import { fieldError, invalidValue, shownName } from "../../domain/errors.ts";
import type { ImageAdapter, ImageSize, ImageWork } from "../../domain/image.ts";
import { checkPrompt, checkSize, decodeSeed } from "../images/decode.ts";

export interface SdapiCall {
  /** The model for this request alone. */
  readonly model?: string;
  /** Maps the field names in errors to those of this API. */
  readonly fields: Readonly<Record<string, string>>;
  readonly work: Omit<ImageWork, "seed" | "edit"> & { readonly seed?: number };
}

export interface SdapiEditCall extends SdapiCall {
  /** The image in base64 or as a data: URL. */
  readonly image: string;
  readonly strength: number;
}

interface Methods {
  readonly sampler?: string | undefined;
  readonly scheduler?: string | undefined;
}

/** Adapters are named in the prompt. */
const FIELDS = { size: "width", image: "init_images", strength: "denoising_strength", lora: "prompt.lora" };
const USUAL_STRENGTH = 0.75;
const checkText = checker(TextToImageRequest);
const checkImage = checker(ImageToImageRequest);

/**
 * Fields ignored whatever their value: they concern the client itself, files and pages of the web interface, or features
 * that are off.
 */
const IGNORED: ReadonlySet<string> = new Set(
  [
    "save_images do_not_save_samples do_not_save_grid override_settings_restore_afterwards script_args force_task_id",
    "comments include_init_images",
    // SillyTavern sends the address and password that it uses along with the form.
    "url auth",
    // Only InstructPix2Pix has this second guidance.
    "image_cfg_scale",
    // Parameters of a second pass or of another model for the last steps; the fields that enable these are refused.
    "denoising_strength refiner_switch_at subseed seed_resize_from_h seed_resize_from_w",
    "firstphase_width firstphase_height",
    // How a mask is applied; `mask` itself is refused.
    "inpainting_fill inpaint_full_res inpaint_full_res_padding inpainting_mask_invert mask_blur mask_blur_x mask_blur_y",
    "mask_round",
  ].flatMap((names) => names.split(" ")),
);
/** The beginning of all further parameters of a second pass, which `enable_hr` enables. */
const SECOND_PASS = "hr_";
/**
 * Values that are not off, but change nothing: clients send the web interface's defaults in every request. They send an
 * `eta` of 1 for all samplers; those that add noise in each step have it here too.
 */
const USUAL: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["eta", 1],
  ["s_noise", 1],
  ["initial_noise_multiplier", 1],
  ["clip_skip", 1],
  ["CLIP_stop_at_last_layers", 1],
  ["sd_vae", "Automatic"],
]);
/** Must not be false: the images are the answer. */
const REQUIRED_TRUE = "send_images";
const CHECKPOINT = "sd_model_checkpoint";
/** Schedulers that stable-diffusion.cpp has under another name. */
const SCHEDULERS: ReadonlyMap<string, string> = new Map([
  ["sgmuniform", "sgm_uniform"],
  ["uniform", "discrete"],
  ["normal", "discrete"],
  ["align_your_steps", "ays"],
]);
const checkOptions = checker(SdapiOptionsRequest);

/** Decodes a txt2img request. Throws SvcError naming the invalid field. */
export function decodeTextToImage(raw: unknown): SdapiCall {
  const body = checkText(raw);
  refuseOthers(body, TextToImageRequest.properties);
  return callOf(body);
}

/** Decodes an img2img request. Throws SvcError naming the invalid field. */
export function decodeImageToImage(raw: unknown): SdapiEditCall {
  const body = checkImage(raw);
  refuseOthers(body, ImageToImageRequest.properties);
  const [image = ""] = body.init_images;
  return { ...callOf(body), image, strength: body.denoising_strength ?? USUAL_STRENGTH };
}

/**
 * Returns the model that draws from now on. Clients send all options back as they received them; other settings are
 * refused. Throws SvcError naming the invalid field.
 */
export function decodeOptions(raw: unknown): string | undefined {
  const body = checkOptions(raw);
  for (const [name, value] of Object.entries(body)) {
    const isOwn = name === CHECKPOINT || (name === "samples_format" && value === "png");
    if (!isOwn && isWanted(name, value)) throw unsupported(shownName(name));
  }
  return body.sd_model_checkpoint || undefined;
}

function callOf(body: TextToImageRequest): SdapiCall {
  const { negative_prompt, steps, cfg_scale } = body;
  const { prompt, adapters } = decodePrompt(body.prompt ?? "");
  checkPrompt(prompt);
  const size = decodeSize(body);
  const count = (body.batch_size ?? 1) * (body.n_iter ?? 1);
  if (count > MOST_IMAGES) {
    throw invalidValue("batch_size", `be at most ${MOST_IMAGES} times 'n_iter' together`, `${count} images`);
  }
  const seed = decodeSeed(body.seed === -1 ? undefined : body.seed, count);
  const { sampler, scheduler } = methodsOf(body);
  const model = modelOf(body.override_settings);
  return {
    ...(model && { model }),
    fields: { ...FIELDS, sampler: body.sampler_name ? "sampler_name" : "sampler_index" },
    work: {
      prompt,
      ...(negative_prompt && { negativePrompt: negative_prompt }),
      // Clients send the same one with every request, to any model.
      ...(negative_prompt && cfg_scale == null && { takesNoNegative: true as const }),
      ...(size && { size }),
      count,
      ...given({ seed, steps, guidance: cfg_scale }),
      ...(sampler && { sampler }),
      ...(scheduler && { scheduler }),
      ...(adapters.length > 0 && { adapters }),
      previews: 0,
      encoding: { format: "png", withParameters: true },
    },
  };
}

/** Returns the image size; undefined: the model's own. */
function decodeSize({ width, height }: TextToImageRequest): ImageSize | undefined {
  if (width == null && height == null) return undefined;
  if (width == null || height == null) {
    const sentence = "is required where the other side is given";
    throw fieldError("missing_required_parameter", width == null ? "width" : "height", sentence);
  }
  return checkSize({ width, height }, "width");
}

/** Separates adapters, which are named in the prompt, from the text. */
function decodePrompt(text: string): { prompt: string; adapters: ImageAdapter[] } {
  const adapters: ImageAdapter[] = [];
  const prompt = text.replace(
    /<lora:([^:<>]{1,256})(?::(-?\d{1,3}(?:\.\d{1,6})?))?>/g,
    (_, name: string, scale = "1") => {
      adapters.push({ name, scale: Number(scale) });
      return "";
    },
  );
  return { prompt: prompt.trim(), adapters };
}

/** Returns the engine's names of sampler and scheduler; older clients name both in one: `DPM++ 2M Karras`. */
function methodsOf({ sampler_name, sampler_index, scheduler: label }: TextToImageRequest): Methods {
  const name = sampler_name || sampler_index;
  if (typeof name === "number") throw invalidValue("sampler_index", "be the name of a sampler", "a number");
  const scheduler = isChosen(label) ? schedulerName(label) : undefined;
  if (!isChosen(name)) return { scheduler };
  const [, sampler, end] = /^(.+)\s(karras|exponential)$/i.exec(name.trim()) ?? [];
  const ending = end?.toLowerCase();
  if (!sampler || (scheduler && scheduler !== ending)) return { sampler: samplerName(name), scheduler };
  return { sampler: samplerName(sampler), scheduler: ending };
}

const isChosen = (name: string | null | undefined): name is string => !!name && name.toLowerCase() !== "automatic";

/** Turns `Euler a`, `DPM++ 2S a` and `DPM++ 2M` into `euler_a`, `dpm++2s_a` and `dpm++2m`. */
const samplerName = (label: string): string => label.trim().toLowerCase().replace(/\s+a$/, "_a").replace(/\s+/g, "");

/** Turns `SGM Uniform` and `KL Optimal` into `sgm_uniform` and `kl_optimal`. */
function schedulerName(label: string): string {
  const name = label.trim().toLowerCase().replace(/\s+/g, "_");
  return SCHEDULERS.get(name) ?? name;
}

/** Returns the model that this request's server settings name; other settings are refused. */
function modelOf(settings: TextToImageRequest["override_settings"]): string | undefined {
  for (const [name, value] of Object.entries(settings ?? {})) {
    const param = `override_settings.${shownName(name)}`;
    if (name !== CHECKPOINT && isWanted(name, value)) throw unsupported(param);
    if (name === CHECKPOINT && value != null && typeof value !== "string") {
      throw invalidValue(param, "be the title of a model", received(value));
    }
  }
  return (settings?.[CHECKPOINT] as string | null | undefined) ?? undefined;
}

/** Refuses unknown fields. Clients send the web interface's whole form: values off or empty request nothing. */
function refuseOthers(body: object, known: object): void {
  for (const [name, value] of Object.entries(body)) {
    if (Object.hasOwn(known, name) || IGNORED.has(name) || name.startsWith(SECOND_PASS)) continue;
    const param = shownName(name);
    if (name === REQUIRED_TRUE ? value === false : isWanted(name, value)) throw unsupported(param);
  }
}

function isWanted(name: string, value: unknown): boolean {
  if (value === USUAL.get(name)) return false;
  if (value == null || value === false || value === "" || value === 0) return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

const unsupported = (param: string) => fieldError("unsupported_parameter", param, "is not supported");
