// API description: the API of Stable Diffusion's web interface.

import { drawingErrors } from "./images.ts";
import { badRequest, temporaryFull, tooLarge, type Operations } from "./operation.ts";

const about = `A compatibility API, for tools that know no other, such as Open WebUI; off with --no-compatibility-apis.
The model that was selected by /sdapi/v1/options draws. Images are PNG. Errors are
\`{"error": code, "detail": message, …}\`.`;

const fields = `Absent fields have the model's defaults. \`width\` and \`height\` must be given together and be divisible
by 16. \`sampler_name\` and \`scheduler\` may be written as in the web interface or as here: \`Euler a\` is \`euler_a\`,
\`SGM Uniform\` is \`sgm_uniform\`, \`Uniform\` and \`Normal\` are \`discrete\`. Without a \`scheduler\`,
\`DPM++ 2M Karras\` is the sampler \`dpm++2m\` with the scheduler \`karras\`. A name that the model lacks is refused; the
error lists those that it has. Without \`cfg_scale\`, a \`negative_prompt\` has no effect on models that are made for none
(1). \`override_settings\` may name \`sd_model_checkpoint\`.

Ignored are fields that concern the web interface's files or the client itself, or have no meaning without another field,
which is refused: \`save_images\`, \`do_not_save_samples\`, \`do_not_save_grid\`, \`override_settings_restore_afterwards\`,
\`script_args\`, \`force_task_id\`, \`comments\`, \`url\`, \`auth\`, \`image_cfg_scale\`, \`subseed\`, \`seed_resize_from_…\`,
\`firstphase_…\`, \`hr_…\`, \`refiner_switch_at\`, \`mask_blur…\`, \`mask_round\`, \`inpaint…\`, \`include_init_images\`, and
\`denoising_strength\` of txt2img. So are the web interface's defaults: 1 for \`eta\`, \`s_noise\`,
\`initial_noise_multiplier\`, \`clip_skip\` and the setting \`CLIP_stop_at_last_layers\`, \`Automatic\` for the setting
\`sd_vae\`.

Refused when they are on are \`enable_hr\`, \`restore_faces\`, \`tiling\`, \`styles\`, \`mask\` (use /v1/images/edits),
\`script_name\`, \`alwayson_scripts\`, \`eta\`, \`s_…\`, \`clip_skip\`, \`subseed_strength\`, \`refiner_checkpoint\`,
\`resize_mode\`, \`send_images\` if false, other settings, and every field that is not described here.`;

const optionErrors = { 400: badRequest, 413: tooLarge("1 MiB") };

export const sdapiOperations: Operations = {
  "POST /sdapi/v1/txt2img": {
    summary: "Draw images from a description, in the API of Stable Diffusion's web interface",
    description: `${about}\n\n${fields}`,
    answers: { 200: "The images." },
    errors: drawingErrors,
    queued: true,
    example: { prompt: "a red circle on a white background", width: 256, height: 256, seed: 7 },
  },
  "POST /sdapi/v1/img2img": {
    summary: "Change an image, in the API of Stable Diffusion's web interface",
    description: `${about} Fields have the meaning that they have in POST /sdapi/v1/txt2img.`,
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
