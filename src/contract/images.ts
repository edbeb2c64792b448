// POST /v1/images/generations, /v1/images/edits and /v1/images/upscale

import { IMAGE_BOUNDS, IMAGE_FORMATS, LARGEST_SEED } from "../domain/image.ts";
import { oneOf, opt, optFlag, optInteger, optText, t, type Static } from "./schema.ts";

/** Characters of a prompt; the engine limits its tokens. */
export const LONGEST_PROMPT = 8000;
export const MOST_IMAGES = 10;
/** Images of an edit: the one to change, and those it refers to. */
export const MOST_PICTURES = 16;

/** Length of a side, in pixels. */
export const SIDES = { least: 64, most: 2048, divisor: 16 } as const;
const sides = `each side ${SIDES.least} to ${SIDES.most} pixels and divisible by ${SIDES.divisor}`;

const Adapter = t.Object({
  name: t.String({ minLength: 1, maxLength: 256 }),
  scale: opt(
    t.Number({
      minimum: -IMAGE_BOUNDS.adapterScale,
      maximum: IMAGE_BOUNDS.adapterScale,
      description: "Strength of the adapter; default 1.",
    }),
  ),
});

const Name = t.String({ minLength: 1, maxLength: 64 });

/** Fields shared with the image routes of other APIs. */
export const drawing = {
  steps: optInteger({ minimum: 1, maximum: IMAGE_BOUNDS.steps }, "Number of steps; default: the model's own."),
  cfg_scale: opt(
    t.Number({
      minimum: 0,
      maximum: IMAGE_BOUNDS.guidance,
      description: "How closely the image follows the prompt (classifier-free guidance); default: the model's own.",
    }),
  ),
  negative_prompt: opt(t.String({ maxLength: LONGEST_PROMPT, description: "What the image must not show." })),
  scheduler: opt(Name),
};

export const ImageRequest = t.Object({
  prompt: t.String({
    minLength: 1,
    maxLength: LONGEST_PROMPT,
    description: "What the image shows. Must not be blank.",
  }),
  model: optText(
    "An image model of GET /v1/models; default: the first one. For an unknown name the first one is used as well, and headers of the answer report it.",
  ),
  n: optInteger(
    { minimum: 1, maximum: MOST_IMAGES },
    "Number of images; each has a seed one above that of the previous image.",
  ),
  size: optText(`\`auto\` (the model's own), or WIDTHxHEIGHT: ${sides}.`),
  quality: opt(oneOf("auto", "low", "medium", "high", "standard", "hd", "xhigh", "max")),
  response_format: opt(oneOf("b64_json", "url")),
  output_format: opt(oneOf(...IMAGE_FORMATS)),
  output_compression: optInteger({ minimum: 0, maximum: 100 }, "Quality of jpeg and webp; 100 is the best."),
  background: opt(oneOf("auto", "opaque", "transparent")),
  moderation: opt(oneOf("auto", "low")),
  stream: optFlag("Send server-sent events."),
  partial_images: optInteger(
    { minimum: 0, maximum: 3 },
    "With `stream`: number of previews of each image before it is done.",
  ),
  user: optText("No effect."),
  safety_identifier: optText("No effect."),
  seed: optInteger({ minimum: 0, maximum: LARGEST_SEED }, "Seed of the first image; default: random."),
  ...drawing,
  sampler: opt(Name),
  lora: opt(t.Array(Adapter, { maxItems: 8, description: "LoRA adapters, whose weights are added to the model's." })),
  metadata: optFlag("Whether a PNG contains how it was made (prompt, seed, settings); default true."),
  progress: optFlag("With `stream`: also send an event for each step."),
});

/** The fields of an edit form, without its images. */
export const ImageEditRequest = t.Object({
  ...ImageRequest.properties,
  strength: opt(
    t.Number({
      exclusiveMinimum: 0,
      maximum: 1,
      description:
        "How much of the image is replaced. Default: models that edit by reference images decide it themselves, unless there is a mask; for all others 0.75.",
    }),
  ),
});

const file = (description: string) => t.String({ format: "binary", description });
const pictures = file(
  `The image to change, PNG, JPEG or WebP. Further images (\`image[]\`, ${MOST_PICTURES} in all) are references for the prompt.`,
);

/** The parts of a form, for the API description. */
export const ImageEditForm = t.Object({
  ...ImageEditRequest.properties,
  image: t.Optional(pictures),
  "image[]": t.Optional(t.Array(pictures)),
  mask: t.Optional(
    file("PNG or WebP of the same size as the image; where it is transparent, the image is drawn anew."),
  ),
});

/** The fields of an upscaling form, without its image. */
export const UpscaleRequest = t.Object({
  model: optText(
    "An upscaling model of GET /v1/models; default: the first one. For an unknown name the first one is used as well, and headers of the answer report it.",
  ),
  scale: opt(
    t.Number({
      exclusiveMinimum: 1,
      maximum: 4,
      description: "Factor by which width and height grow; default and maximum: the model's own.",
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
  url: t.Optional(t.String({ description: "Address of the file, valid for an hour." })),
  seed: t.Integer({ description: "The same seed and settings give the same image." }),
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

export type Upscaled = Static<typeof Upscaled>;
export type ImageRequest = Static<typeof ImageRequest>;
export type Images = Static<typeof Images>;
