// API description: the API of Stable Diffusion's web interface.

import { drawingErrors } from "./images.ts";
import { badRequest, temporaryFull, tooLarge, type Operations } from "./operation.ts";

const about = `A compatibility API, for tools that know no other, such as Open WebUI; off with --no-compatibility-apis.
The model that was selected by /sdapi/v1/options draws. Images are PNG. \`width\` and \`height\` must be given together
and be divisible by 16. \`sampler_name\` and \`scheduler\` may be written as in the web interface (Euler a, SGM Uniform)
or as here (euler_a, sgm_uniform); DPM++ 2M Karras names both.
\`override_settings\` may name \`sd_model_checkpoint\`. Fields of the web interface without a meaning here are ignored
if they are off, have its default (eta 1, clip_skip 1, …) or concern its files and pages (save_images,
do_not_save_samples, script_args, subseed, hr_… without enable_hr, …). Fields that would change the image
(restore_faces, tiling, enable_hr, styles, mask, alwayson_scripts, …) are refused when they are on. Errors
are \`{"error": code, "detail": message, …}\`.`;

const optionErrors = { 400: badRequest, 413: tooLarge("1 MiB") };

export const sdapiOperations: Operations = {
  "POST /sdapi/v1/txt2img": {
    summary: "Draw images from a description, in the API of Stable Diffusion's web interface",
    description: about,
    answers: { 200: "The images." },
    errors: drawingErrors,
    queued: true,
    example: { prompt: "a red circle on a white background", width: 256, height: 256, seed: 7 },
  },
  "POST /sdapi/v1/img2img": {
    summary: "Change an image, in the API of Stable Diffusion's web interface",
    description: `${about} A mask is refused: POST /v1/images/edits takes one.`,
    answers: { 200: "The images." },
    errors: {
      ...drawingErrors,
      413: "The image is larger than 20 MiB, or the body than 100 MiB; it is refused while it is read.",
      507: temporaryFull,
    },
    queued: true,
  },
  "GET /sdapi/v1/options": {
    summary: "Get the selected image model, in the API of Stable Diffusion's web interface",
    answers: { 200: "The settings." },
  },
  "POST /sdapi/v1/options": {
    summary: "Select the image model, in the API of Stable Diffusion's web interface",
    description: "The selection applies to all clients of this API until the server ends. Other settings are refused.",
    answers: { 200: "An empty object." },
    errors: optionErrors,
    example: {},
  },
  "GET /sdapi/v1/sd-models": {
    summary: "List the image models, in the API of Stable Diffusion's web interface",
    answers: { 200: "The models." },
  },
  "GET /sdapi/v1/samplers": {
    summary: "List the samplers of the selected model, in the API of Stable Diffusion's web interface",
    answers: { 200: "The samplers; an empty list until the model has been loaded." },
  },
  "GET /sdapi/v1/schedulers": {
    summary: "List the schedulers of the selected model, in the API of Stable Diffusion's web interface",
    answers: { 200: "The schedulers; an empty list until the model has been loaded." },
  },
  "GET /sdapi/v1/progress": {
    summary: "Get the progress of a request, in the API of Stable Diffusion's web interface",
    description:
      "The progress of the first running request with the caller's API key; on a server without API keys, of the first of all. It has no preview image.",
    answers: { 200: "The progress." },
  },
  "POST /sdapi/v1/interrupt": {
    summary: "Cancel requests, in the API of Stable Diffusion's web interface",
    description:
      "Cancels the requests with the caller's API key; on a server without API keys, all requests of this API.",
    answers: { 200: "An empty object." },
  },
};
