// POST /v1/images/generations, /v1/images/edits and /v1/images/upscale

import { IMAGE_FORMATS, LARGEST_SEED } from "../domain/image.ts";
import { oneOf, opt, t, type Static } from "./schema.ts";

/**
 * Characters of a prompt. Text encoders attend from each token to all others: this many take 0.7 GB, four times as many
 * took 7.7 GB.
 */
export const LONGEST_PROMPT = 8000;
export const MOST_IMAGES = 10;
const MOST_STEPS = 150;
const LARGEST_GUIDANCE = 30;
/** Images of an edit: the one to change, and those it refers to. */
export const MOST_PICTURES = 16;

/** Length of a side, in pixels. */
export const SIDES = { least: 64, most: 2048, divisor: 16 } as const;
const sides = `each side ${SIDES.least} to ${SIDES.most} pixels and divisible by ${SIDES.divisor}`;

const Adapter = t.Object({
  name: t.String({ minLength: 1, maxLength: 256 }),
  scale: opt(t.Number({ minimum: -8, maximum: 8, description: "Default 1." })),
});

const Name = t.String({ minLength: 1, maxLength: 64 });

/** Fields shared with the image routes of other APIs. */
export const drawing = {
  steps: opt(t.Integer({ minimum: 1, maximum: MOST_STEPS, description: "Default: the model's own." })),
  cfg_scale: opt(
    t.Number({
      minimum: 0,
      maximum: LARGEST_GUIDANCE,
      description: "How closely the description is followed (classifier-free guidance); default: the model's own.",
    }),
  ),
  negative_prompt: opt(t.String({ maxLength: LONGEST_PROMPT, description: "What is not to be seen." })),
  scheduler: opt(Name),
};

export const ImageRequest = t.Object({
  prompt: t.String({ minLength: 1, maxLength: LONGEST_PROMPT, description: "What is to be seen; more than spaces." }),
  model: opt(
    t.String({
      description:
        "An image model of GET /v1/models; another name stands for the first of them, and headers of the answer say so.",
    }),
  ),
  n: opt(t.Integer({ minimum: 1, maximum: MOST_IMAGES, description: "Images; each has a seed one above the last." })),
  size: opt(t.String({ description: `\`auto\` (the model's own), or WIDTHxHEIGHT: ${sides}.` })),
  quality: opt(oneOf("auto", "low", "medium", "high", "standard", "hd")),
  response_format: opt(oneOf("b64_json", "url")),
  output_format: opt(oneOf(...IMAGE_FORMATS)),
  output_compression: opt(
    t.Integer({ minimum: 0, maximum: 100, description: "Of jpeg and webp: 100 keeps most of the image." }),
  ),
  background: opt(oneOf("auto", "opaque", "transparent")),
  moderation: opt(oneOf("auto", "low")),
  stream: opt(t.Boolean({ description: "Send server-sent events." })),
  partial_images: opt(
    t.Integer({
      minimum: 0,
      maximum: 3,
      description: "With `stream`: how often each image is shown before it is done.",
    }),
  ),
  user: opt(t.String({ description: "No effect." })),
  safety_identifier: opt(t.String({ description: "No effect." })),
  seed: opt(t.Integer({ minimum: 0, maximum: LARGEST_SEED, description: "Of the first image; default: any." })),
  ...drawing,
  sampler: opt(Name),
  lora: opt(t.Array(Adapter, { maxItems: 8, description: "Weights that are added to the model's." })),
  metadata: opt(
    t.Boolean({
      description: "false: a PNG does not say how it was made (description, seed, settings). Default true.",
    }),
  ),
  progress: opt(t.Boolean({ description: "With `stream`: an event a step, too." })),
});

/** The fields of an edit form, without its images. */
export const ImageEditRequest = t.Object({
  ...ImageRequest.properties,
  strength: opt(
    t.Number({
      exclusiveMinimum: 0,
      maximum: 1,
      description: "How much of the image goes; default: the model's usual one.",
    }),
  ),
});

const file = (description: string) => t.String({ format: "binary", description });
const pictures = file(
  `The image that is changed, PNG, JPEG or WebP; further ones (\`image[]\`, ${MOST_PICTURES} together) are what the description speaks of.`,
);

/** The parts of a form, for the API description. */
export const ImageEditForm = t.Object({
  ...ImageEditRequest.properties,
  image: t.Optional(pictures),
  "image[]": t.Optional(t.Array(pictures)),
  mask: t.Optional(file("PNG or WebP, as large as the image: where it is transparent, the image is drawn anew.")),
});

/** The fields of an upscaling form, without its image. */
export const UpscaleRequest = t.Object({
  model: opt(
    t.String({
      description:
        "An upscaling model of GET /v1/models; another name stands for the first of them, and headers of the answer say so.",
    }),
  ),
  scale: opt(
    t.Number({
      exclusiveMinimum: 1,
      maximum: 4,
      description: "How many times as wide and as high; default and at most: the model's own.",
    }),
  ),
  response_format: ImageRequest.properties.response_format,
  output_format: ImageRequest.properties.output_format,
  output_compression: ImageRequest.properties.output_compression,
  user: ImageRequest.properties.user,
});

/** The parts of a form, for the API description. */
export const UpscaleForm = t.Object({
  ...UpscaleRequest.properties,
  image: file("PNG, JPEG or WebP, of at most 1,048,576 pixels."),
});

const Drawn = t.Object({
  b64_json: t.Optional(t.String({ description: "The file in base64." })),
  url: t.Optional(t.String({ description: "Where the file is for an hour." })),
  seed: t.Integer({ description: "With the same settings it gives the same image." }),
});

export const Images = t.Object({
  created: t.Integer({ description: "Unix seconds." }),
  background: t.Literal("opaque"),
  data: t.Array(Drawn),
  output_format: oneOf(...IMAGE_FORMATS),
  size: t.String({ description: "WIDTHxHEIGHT" }),
  quality: t.Optional(oneOf("low", "medium", "high")),
});

const { created, data, output_format, size } = Images.properties;
export const Upscaled = t.Object({ created, data: t.Array(t.Omit(data.items, ["seed"])), output_format, size });

export type UpscaleRequest = Static<typeof UpscaleRequest>;
export type Upscaled = Static<typeof Upscaled>;
export type ImageRequest = Static<typeof ImageRequest>;
export type ImageEditRequest = Static<typeof ImageEditRequest>;
export type Images = Static<typeof Images>;
