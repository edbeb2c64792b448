// API description: images.

import { MOST_PICTURES, SIDES } from "../../contract/images.ts";
import { badRequest, jobErrors, tooLarge, type Operations } from "./operation.ts";

/** Errors of every route that draws. */
export const drawingErrors = {
  400: `${badRequest} What the model cannot do is refused, by its field; so is a field that is not described here.`,
  413: tooLarge("1 MB"),
  ...jobErrors,
  503: "`server_busy`: the queue is full, or the request waited in it for as long as --queue-timeout allows; Retry-After says in whole seconds when a place is free, by recent steps. `engine_unavailable`: there is no image model (--image-model names one), loading it takes too long or failed, or its engine is stalled.",
};

const fields = `\`model\` is an image model of GET /v1/models; another name stands for the first of them, and the answer then has the headers
X-Svc-Compatibility and X-Svc-Emulated-Parameters. \`size\` is \`auto\` (the default, the model's own) or WIDTHxHEIGHT, each side from ${SIDES.least} to
${SIDES.most} pixels and divisible by ${SIDES.divisor}; a model may take less. \`quality\` stands for steps, by those that the model was made for: low half as
many, medium (also auto and standard) as many, high (also hd) twice as many; \`steps\` counts them itself, and then \`quality\` is to be absent. The
images of a request have the seeds \`seed\`, \`seed\` + 1 and so on, which the answer reports. \`output_compression\` is for jpeg and webp,
and 100, as in OpenAI's API, is the best quality. \`background\` transparent is refused, and so is \`style\`. \`moderation\`, \`user\` and
\`safety_identifier\` have no effect: nothing is moderated. Extensions of OpenAI's API are \`seed\`, \`steps\`, \`cfg_scale\`,
\`negative_prompt\`, \`sampler\`, \`scheduler\`, \`lora\`, \`metadata\` and \`progress\`. A PNG says in itself how it was made, unless \`metadata\` is false.
With \`response_format\` \`url\` the images are kept in memory for an hour (GET /v1/images/files/{id}), 256 MB of them in all; the oldest are evicted first.
The answer has no usage: nothing is counted in tokens. Clients take turns, an image each. POST /v1/chat/completions/{id}/cancel with the
correlation id ends a request, and so does disconnecting.`;

const events = (kind: string) =>
  `\`${kind}.partial_image\` {type, b64_json, partial_image_index, image_index, created_at, size, quality, background, output_format} as often as \`partial_images\` says and the image has steps, \`${kind}.completed\` {type, b64_json, image_index, seed, …} for each image, with \`progress\` also \`${kind}.progress\` {type, image_index, step, steps}, or \`error\` {type, error}. The stream has no other terminator.`;

const headers = {
  "Cache-Control": "`no-store`",
  "X-Svc-Compatibility": "`emulated` where something of the request stood for something else.",
  "X-Svc-Emulated-Parameters": "What that was: `model`.",
};

export const imagesOperations: Operations = {
  "POST /v1/images/generations": {
    summary: "Draw images from a description",
    description: fields,
    answers: { 200: "The images." },
    headers,
    errors: drawingErrors,
    queued: true,
    stream: events("image_generation"),
    example: { prompt: "a red circle on a white ground", size: "256x256", seed: 7 },
  },
  "POST /v1/images/edits": {
    summary: "Change an image by a description",
    description: `A form, as in OpenAI's API; JSON is refused. \`image\` (or \`image[]\`) is the image that is changed, a PNG, JPEG or WebP file;
further ones, ${MOST_PICTURES} in all, are what the description speaks of, for models that edit by themselves. \`mask\` is a PNG or WebP as large as the image: where it is
transparent the image is drawn anew, elsewhere it stays. \`strength\`, above 0 and at most 1, says how much of the image goes. What a model
cannot do with an image is refused, and never left out. Formats are detected from the content. Each file has at most
20 MB, and the form 100 MB. The other fields are those of POST /v1/images/generations, as parts; \`lora\` is JSON. ${fields}`,
    answers: { 200: "The changed images." },
    headers,
    errors: {
      ...drawingErrors,
      413: `A file is larger than 20 MB, or the form than 100 MB; it is refused while it is read.`,
      507: "`storage_full`: the disk for temporary files is full.",
    },
    queued: true,
    stream: events("image_edit"),
  },
  "POST /v1/images/upscale": {
    summary: "Make an image larger",
    description: `A form; JSON is refused. \`image\` is a PNG, JPEG or WebP file of at most 20 MB and 1,048,576 pixels. A model is needed:
--image-upscale-model names one. It makes images as many times as wide and as high as it was trained for, 4 mostly; a smaller \`scale\` is made
from that. Transparency is put on white. A field that is not described here is refused.`,
    answers: { 200: "The larger image." },
    headers,
    errors: {
      ...drawingErrors,
      413: `The file is larger than 20 MB, or the form than 100 MB; it is refused while it is read.`,
      503: drawingErrors[503].replace(
        "there is no image model (--image-model names one)",
        "there is no upscaling model (--image-upscale-model names one)",
      ),
      507: "`storage_full`: the disk for temporary files is full.",
    },
    queued: true,
  },
  "POST /v1/images/variations": {
    summary: "Variations, which are refused",
    description:
      "OpenAI has withdrawn them. Without a description a model does not vary an image but draws another; POST /v1/images/edits with a prompt and a small strength stays close to one.",
    answers: {},
    errors: { 501: "`mode_unavailable`: always." },
  },
  "GET /v1/images/files/{id}": {
    summary: "An image that was drawn with `response_format` `url`",
    description: "For an hour, unless newer ones needed its memory. It needs an API key where others do.",
    answers: { 200: "The file." },
    headers: { "Cache-Control": "`no-store`" },
    errors: { 404: "`not_found`: there is none of this id, or none any more." },
  },
};
