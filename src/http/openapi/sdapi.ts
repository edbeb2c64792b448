// API description: the API of Stable Diffusion's web interface.

import { drawingErrors } from "./images.ts";
import { badRequest, tooLarge, type Operations } from "./operation.ts";

const about = `A compatibility API, for tools that know no other, as Open WebUI; off with --no-compatibility-apis. What the model that is
chosen by /sdapi/v1/options draws. Images are PNG. \`width\` and \`height\` are to be given together, divisible by 16. \`sampler_name\` may be
written as it is there (Euler a) or here (euler_a). \`override_settings\` may name \`sd_model_checkpoint\`. Fields of the web interface without a
meaning here are ignored where they are off or about its files and pages (save_images, do_not_save_samples, script_args, subseed, hr_… without
enable_hr, …); those that would change the image (restore_faces, tiling, enable_hr, styles, mask, alwayson_scripts, …) are refused when
they are on. Errors are \`{"error": code, "detail": message, …}\`.`;

const optionErrors = { 400: badRequest, 413: tooLarge("1 MB") };

export const sdapiOperations: Operations = {
  "POST /sdapi/v1/txt2img": {
    summary: "Draw images from a description, in the API of Stable Diffusion's web interface",
    description: about,
    answers: { 200: "The images." },
    errors: drawingErrors,
    queued: true,
    example: { prompt: "a red circle on a white ground", width: 256, height: 256, seed: 7 },
  },
  "POST /sdapi/v1/img2img": {
    summary: "Change an image, in the API of Stable Diffusion's web interface",
    description: `${about} A mask is refused: POST /v1/images/edits takes one.`,
    answers: { 200: "The images." },
    errors: {
      ...drawingErrors,
      413: "The image is larger than 20 MB, or the body than 100 MB; it is refused while it is read.",
      507: "`storage_full`: the disk for temporary files is full.",
    },
    queued: true,
  },
  "GET /sdapi/v1/options": {
    summary: "Which image model draws, in this API",
    answers: { 200: "The settings." },
  },
  "POST /sdapi/v1/options": {
    summary: "Choose the image model that draws, in this API",
    description: "For all clients of this API, until the server ends. Other settings are refused.",
    answers: { 200: "An empty object." },
    errors: optionErrors,
    example: {},
  },
  "GET /sdapi/v1/sd-models": {
    summary: "List the image models, in this API",
    answers: { 200: "The models." },
  },
  "GET /sdapi/v1/samplers": {
    summary: "List the samplers of the chosen model, in this API",
    answers: { 200: "The samplers; none until the model was loaded." },
  },
  "GET /sdapi/v1/schedulers": {
    summary: "List the schedulers of the chosen model, in this API",
    answers: { 200: "The schedulers; none until the model was loaded." },
  },
  "GET /sdapi/v1/progress": {
    summary: "How far a request of this API is",
    description: "The first one of the same API key; without keys, of all. It shows no image.",
    answers: { 200: "The progress." },
  },
  "POST /sdapi/v1/interrupt": {
    summary: "End the requests of this API",
    description: "Those of the same API key; without keys, all.",
    answers: { 200: "An empty object." },
  },
};
