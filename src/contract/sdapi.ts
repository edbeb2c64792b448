// The part of the Stable Diffusion web interface's API that clients use to draw: /sdapi/v1/…

import { LARGEST_SEED } from "../domain/image.ts";
import { drawing, LONGEST_PROMPT, MOST_IMAGES } from "./images.ts";
import { JsonObject, opt, optInteger, optText, t, type Static } from "./schema.ts";

const Side = t.Integer({ minimum: 1, maximum: 100_000, description: "In pixels; default: the model's own." });
const Name = t.String({ maxLength: 64 });
const Count = t.Integer({ minimum: 1, maximum: MOST_IMAGES });

const common = {
  prompt: opt(
    t.String({ maxLength: LONGEST_PROMPT, description: "`<lora:NAME:SCALE>` in the prompt applies a LoRA adapter." }),
  ),
  ...drawing,
  negative_prompt: opt(t.String({ maxLength: LONGEST_PROMPT })),
  width: opt(Side),
  height: opt(Side),
  sampler_name: opt(Name),
  sampler_index: opt(t.Union([Name, t.Integer()], { description: "The older name of `sampler_name`." })),
  scheduler: opt(Name),
  seed: optInteger({ minimum: -1, maximum: LARGEST_SEED }, "Seed of the first image; -1, the default: random."),
  batch_size: opt(Count),
  n_iter: optInteger({ minimum: 1, maximum: MOST_IMAGES }, "Multiplies `batch_size`; 10 images at most in all."),
  override_settings: opt(JsonObject),
};

export const TextToImageRequest = t.Object(common);

export const ImageToImageRequest = t.Object({
  ...common,
  init_images: t.Array(t.String({ minLength: 1 }), {
    minItems: 1,
    maxItems: 1,
    description: "The image, in base64 or as a data: URL.",
  }),
  denoising_strength: opt(
    t.Number({ exclusiveMinimum: 0, maximum: 1, description: "How much of the image is replaced; default 0.75." }),
  ),
});

export const SdapiImages = t.Object({
  images: t.Array(t.String(), { description: "PNG files in base64." }),
  parameters: JsonObject,
  info: t.String({ description: "JSON text with the settings that made the images." }),
});

export const SdapiOptionsRequest = t.Object({
  sd_model_checkpoint: optText("The title of an image model, which is then used for all requests of this API."),
});

export const SdapiOptions = t.Object({
  sd_model_checkpoint: t.String({ description: "The selected image model; empty if there is none." }),
  samples_format: t.Literal("png"),
});

export const SdapiModels = t.Array(
  t.Object({
    title: t.String(),
    model_name: t.String(),
    hash: t.Null(),
    sha256: t.Null(),
    filename: t.String({ description: "The model's name again; paths of the server are not revealed." }),
    config: t.Null(),
  }),
);

export const SdapiSamplers = t.Array(
  t.Object({ name: t.String(), aliases: t.Array(t.String()), options: JsonObject }),
  { description: "Empty until the model has been loaded." },
);

export const SdapiSchedulers = t.Array(
  t.Object({
    name: t.String(),
    label: t.String(),
    aliases: t.Null(),
    default_rho: t.Number(),
    need_inner_model: t.Boolean(),
  }),
  { description: "Empty until the model has been loaded." },
);

export const SdapiProgress = t.Object({
  progress: t.Number({ description: "0 to 1." }),
  eta_relative: t.Number({ description: "Remaining seconds; 0 if unknown." }),
  state: t.Object({
    skipped: t.Boolean(),
    interrupted: t.Boolean(),
    job: t.String(),
    job_count: t.Integer(),
    job_timestamp: t.String(),
    job_no: t.Integer(),
    sampling_step: t.Integer(),
    sampling_steps: t.Integer(),
  }),
  current_image: t.Null(),
  textinfo: t.Null(),
});

export type TextToImageRequest = Static<typeof TextToImageRequest>;
export type SdapiImages = Static<typeof SdapiImages>;
export type SdapiModels = Static<typeof SdapiModels>;
export type SdapiProgress = Static<typeof SdapiProgress>;
export type SdapiSamplers = Static<typeof SdapiSamplers>;
export type SdapiSchedulers = Static<typeof SdapiSchedulers>;
