// API description: images.

import { MOST_PICTURES, SIDES } from "../../contract/images.ts";
import { badRequest, jobErrors, temporaryFull, tooLarge, upstreamNamed, type Operations } from "./operation.ts";

/** Returns the errors of a route that needs this model. `option`: the option that names the model. */
const modelErrors = (model: string, option: string) =>
  jobErrors(`there is no ${model} (start svc with ${option} to serve one), loading it`);

/** Errors of every route that draws. */
export const drawingErrors = {
  400: `${badRequest} A field that the model does not support is refused, and so is a field that is not described here.`,
  404: upstreamNamed,
  413: tooLarge("1 MiB"),
  ...modelErrors("image model", "--image-model"),
};

const fields = `\`model\` is an image model of GET /v1/models. For an unknown name the first image model is used, and
the answer then has the headers X-Svc-Compatibility and X-Svc-Emulated-Parameters. \`size\` is \`auto\` (the default:
the model's own size) or WIDTHxHEIGHT, each side from ${SIDES.least} to ${SIDES.most} pixels and divisible by
${SIDES.divisor}; a model may accept fewer sizes. \`quality\` sets the number of steps, in relation to the number that
the model was made for: low is half of it, medium (also auto and standard) is all of it, high (also hd, xhigh and max)
is twice as many. \`steps\` sets the number directly; \`quality\` must then be absent or auto. The images of a request have the
seeds \`seed\`, \`seed\` + 1 and so on, which the answer reports. \`output_compression\` applies to jpeg and webp; 100
is the best quality, as in OpenAI's API. \`background\` transparent and \`style\` are refused. \`moderation\`, \`user\`
and \`safety_identifier\` have no effect: nothing is moderated. Extensions of OpenAI's API are \`seed\`, \`steps\`,
\`cfg_scale\`, \`negative_prompt\`, \`sampler\`, \`scheduler\`, \`lora\`, \`metadata\` and \`progress\`. A PNG contains
the settings that made it, unless \`metadata\` is false. With \`response_format\` \`url\` the images are kept in memory
for an hour (GET /v1/images/files/{id}), at most 256 MiB in all; the oldest are evicted first. The answer has no usage,
because nothing is counted in tokens. Clients take turns, one image at a time. POST /v1/chat/completions/{id}/cancel
with the correlation id cancels a request, and so does disconnecting.`;

const events = (kind: string) =>
  `\`${kind}.partial_image\` {type, b64_json, partial_image_index, image_index, created_at, size, quality, background, output_format} at most \`partial_images\` times per image (fewer if it has fewer steps), \`${kind}.completed\` {type, b64_json, image_index, seed, usage (zeros: images are not counted in tokens), …} for each image, with \`progress\` also \`${kind}.progress\` {type, image_index, step, steps}, or \`error\` {type, error}. The stream has no other terminator.`;

const headers = {
  "Cache-Control": "`no-store`",
  "X-Svc-Compatibility": "`emulated` if a value of the request was replaced by another one.",
  "X-Svc-Emulated-Parameters": "The parameter whose value was replaced: `model`.",
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
    example: { prompt: "a red circle on a white background", size: "256x256", seed: 7 },
  },
  "POST /v1/images/edits": {
    summary: "Change an image as described in a prompt",
    description: `A form, as in OpenAI's API; JSON is refused. \`image\` (or \`image[]\`) is the image to change, a PNG,
JPEG or WebP file. Further images, ${MOST_PICTURES} in all, are references for the prompt, for models that take
reference images. \`mask\` is a PNG or WebP of the same size as the image: where the mask is transparent, the image is
drawn anew; elsewhere it is kept. \`strength\`, above 0 and at most 1, sets how much of the image is replaced. Anything
that the model cannot do with an image is refused, never ignored. Formats are detected from the content. A file may have
at most 20 MiB, and the form 100 MiB. The other fields are those of POST /v1/images/generations, as parts of the form;
\`lora\` is JSON.

${fields}`,
    answers: { 200: "The changed images." },
    headers,
    errors: {
      ...drawingErrors,
      413: `A file is larger than 20 MiB, or the form than 100 MiB; it is refused while it is read.`,
      507: temporaryFull,
    },
    queued: true,
    stream: events("image_edit"),
  },
  "POST /v1/images/upscale": {
    summary: "Make an image larger",
    description: `A form; JSON is refused. \`image\` is a PNG, JPEG or WebP file of at most 20 MiB and 1,048,576 pixels.
An upscaling model is needed (--image-upscale-model). It enlarges width and height by the factor that it was trained
for, mostly 4; for a smaller \`scale\` the result is scaled down. Transparency is rendered on white. A field that is not
described here is refused.`,
    answers: { 200: "The larger image." },
    headers,
    errors: {
      ...drawingErrors,
      413: `The file is larger than 20 MiB, or the form than 100 MiB; it is refused while it is read.`,
      ...modelErrors("upscaling model", "--image-upscale-model"),
      507: temporaryFull,
    },
    queued: true,
  },
  "POST /v1/images/variations": {
    summary: "Vary an image (always refused)",
    description:
      "OpenAI has withdrawn this route. Without a prompt a model does not vary an image but draws a different one. Use POST /v1/images/edits with a prompt and a small strength to stay close to an image.",
    answers: {},
    errors: { 501: "`mode_unavailable`: always." },
  },
  "GET /v1/images/files/{id}": {
    summary: "Fetch an image that was drawn with `response_format` `url`",
    description:
      "Available for an hour, unless newer images needed its memory. Requires an API key if the server has API keys.",
    answers: { 200: "The file." },
    headers: { "Cache-Control": "`no-store`" },
    errors: { 404: "`not_found`: there is no image with this id, or it has expired or was evicted." },
  },
};
