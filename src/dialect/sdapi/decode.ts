// Requests of /sdapi/v1/txt2img and /sdapi/v1/img2img.

import { MOST_IMAGES } from "../../contract/images.ts";
import { checker, received } from "../../contract/schema.ts";
import { ImageToImageRequest, SdapiOptionsRequest, TextToImageRequest } from "../../contract/sdapi.ts";
import { fieldError, invalidValue, shownName } from "../../domain/errors.ts";
import type { ImageAdapter, ImageSize, ImageWork } from "../../domain/image.ts";
import { checkPrompt, checkSize, decodeSeed } from "../images/decode.ts";

export interface SdapiCall {
  /** Named for this request alone. */
  readonly model?: string;
  /** The fields of this API by the names that failures have for them. */
  readonly fields: Readonly<Record<string, string>>;
  readonly work: Omit<ImageWork, "seed" | "edit"> & { readonly seed?: number };
}

export interface SdapiEditCall extends SdapiCall {
  /** In base64 or as a data: URL. */
  readonly image: string;
  readonly strength: number;
}

/** Adapters are named in the description. */
const FIELDS = { size: "width", image: "init_images", strength: "denoising_strength", lora: "prompt.lora" };
const USUAL_STRENGTH = 0.75;
const checkText = checker(TextToImageRequest);
const checkImage = checker(ImageToImageRequest);

/** What has no meaning here, whatever it is: about files and pages of the web interface, or about what is off. */
const IGNORED: ReadonlySet<string> = new Set([
  "save_images",
  "do_not_save_samples",
  "do_not_save_grid",
  "override_settings_restore_afterwards",
  "script_args",
  "force_task_id",
  "comments",
  // Of a second pass, which is refused, or of another model for the last steps, which is, too.
  "denoising_strength",
  "refiner_switch_at",
  "subseed",
  "seed_resize_from_h",
  "seed_resize_from_w",
  "firstphase_width",
  "firstphase_height",
  "hr_scale",
  "hr_upscaler",
  "hr_second_pass_steps",
  "hr_resize_x",
  "hr_resize_y",
  "hr_checkpoint_name",
  "hr_sampler_name",
  "hr_scheduler",
  "hr_prompt",
  "hr_negative_prompt",
  "inpainting_fill",
  "inpaint_full_res",
  "inpaint_full_res_padding",
  "inpainting_mask_invert",
  "mask_blur",
  "mask_blur_x",
  "mask_blur_y",
  "mask_round",
  "include_init_images",
]);
/** The images are the answer. */
const REQUIRED_TRUE = "send_images";
const CHECKPOINT = "sd_model_checkpoint";
const checkOptions = checker(SdapiOptionsRequest);

/** Throws SvcError naming the field at fault. */
export function decodeTextToImage(body: unknown): SdapiCall {
  const asked = checkText(body);
  refuseOthers(asked, TextToImageRequest.properties);
  return callOf(asked);
}

/** Throws SvcError naming the field at fault. */
export function decodeImageToImage(body: unknown): SdapiEditCall {
  const asked = checkImage(body);
  refuseOthers(asked, ImageToImageRequest.properties);
  const [image = ""] = asked.init_images;
  return { ...callOf(asked), image, strength: asked.denoising_strength ?? USUAL_STRENGTH };
}

/**
 * The model that is to draw from now on. Clients send all options back as they got them; another setting is refused. Throws
 * SvcError naming the field at fault.
 */
export function decodeOptions(body: unknown): string | undefined {
  const asked = checkOptions(body);
  for (const [name, value] of Object.entries(asked)) {
    const isOwn = name === CHECKPOINT || (name === "samples_format" && value === "png");
    if (!isOwn && isWanted(value)) throw unsupported(shownName(name));
  }
  return asked.sd_model_checkpoint || undefined;
}

function callOf(asked: TextToImageRequest): SdapiCall {
  const { negative_prompt, steps, cfg_scale, scheduler } = asked;
  const { prompt, adapters } = decodePrompt(asked.prompt ?? "");
  checkPrompt(prompt);
  const size = decodeSize(asked);
  const count = (asked.batch_size ?? 1) * (asked.n_iter ?? 1);
  if (count > MOST_IMAGES) {
    throw invalidValue("batch_size", `be at most ${MOST_IMAGES} times 'n_iter' together`, `${count} images`);
  }
  const seed = decodeSeed(asked.seed === -1 ? undefined : asked.seed, count);
  const sampler = samplerOf(asked);
  const model = modelOf(asked.override_settings);
  return {
    ...(model && { model }),
    fields: { ...FIELDS, sampler: asked.sampler_name ? "sampler_name" : "sampler_index" },
    work: {
      prompt,
      ...(negative_prompt && { negativePrompt: negative_prompt }),
      ...(size && { size }),
      count,
      ...(seed !== undefined && { seed }),
      ...(steps != null && { steps }),
      ...(cfg_scale != null && { guidance: cfg_scale }),
      ...(sampler && { sampler }),
      ...(scheduler && scheduler.toLowerCase() !== "automatic" && { scheduler: plainName(scheduler) }),
      ...(adapters.length > 0 && { adapters }),
      previews: 0,
      encoding: { format: "png", tellsHow: true },
    },
  };
}

/** Undefined where the model's own is wanted. */
function decodeSize({ width, height }: TextToImageRequest): ImageSize | undefined {
  if (width == null && height == null) return undefined;
  if (width == null || height == null) {
    const sentence = "is required where the other side is given";
    throw fieldError("missing_required_parameter", width == null ? "width" : "height", sentence);
  }
  return checkSize({ width, height }, "width");
}

/** Weights are named in the description. */
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

function samplerOf({ sampler_name, sampler_index }: TextToImageRequest): string | undefined {
  const name = sampler_name || sampler_index;
  if (typeof name === "number") throw invalidValue("sampler_index", "be the name of a sampler", "a number");
  return name && name.toLowerCase() !== "automatic" ? plainName(name) : undefined;
}

/** `Euler a`, `DPM++ 2S a` and `DPM++ 2M` are `euler_a`, `dpm++2s_a` and `dpm++2m`. */
const plainName = (label: string): string => label.trim().toLowerCase().replace(/\s+a$/, "_a").replace(/\s+/g, "");

/** Settings of the server for one request: which model draws, and no other. */
function modelOf(settings: TextToImageRequest["override_settings"]): string | undefined {
  for (const [name, value] of Object.entries(settings ?? {})) {
    const param = `override_settings.${shownName(name)}`;
    const isUsual = name === "CLIP_stop_at_last_layers" && value === 1;
    if (name !== CHECKPOINT && !isUsual && isWanted(value)) throw unsupported(param);
    if (name === CHECKPOINT && value != null && typeof value !== "string") {
      throw invalidValue(param, "be the title of a model", received(value));
    }
  }
  return (settings?.[CHECKPOINT] as string | null | undefined) ?? undefined;
}

/** Clients send the web interface's whole form: what is off in it, or empty, requests nothing. */
function refuseOthers(asked: object, known: object): void {
  for (const [name, value] of Object.entries(asked)) {
    if (Object.hasOwn(known, name) || IGNORED.has(name)) continue;
    const param = shownName(name);
    if (name === REQUIRED_TRUE ? value === false : isWanted(value)) throw unsupported(param);
  }
}

function isWanted(value: unknown): boolean {
  if (value == null || value === false || value === "" || value === 0) return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

const unsupported = (param: string) => fieldError("unsupported_parameter", param, "is not supported");
