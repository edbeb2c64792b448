// The API of Stable Diffusion's web interface, with images from an engine in memory.

import { describe, expect, test } from "bun:test";
import { checker } from "../../src/contract/schema.ts";
import { SdapiImages, SdapiProgress } from "../../src/contract/sdapi.ts";
import { decodeTextToImage } from "../../src/dialect/sdapi/decode.ts";
import { abortable } from "../../src/domain/abortable.ts";
import { SvcError } from "../../src/domain/errors.ts";
import { planOf } from "../../src/engine/image/child/plan.ts";
import { OfferedModels, offeredImages } from "../../src/service/offered-models.ts";
import { FakeDrawer } from "../support/fake-image-engine.ts";
import { pngHeader } from "../media/files.ts";
import { until } from "../support/until.ts";
import { expectGolden } from "./golden.ts";
import { leftovers, serve, type TestServer } from "./harness.ts";

const prompt = "a red circle";
const image = Buffer.from(pngHeader(64, 96)).toString("base64");
/** What webuiapi sends for either route unless it is told otherwise. */
const webuiapiDefaults = {
  prompt,
  styles: [],
  seed: -1,
  subseed: -1,
  subseed_strength: 0,
  seed_resize_from_h: 0,
  seed_resize_from_w: 0,
  batch_size: 1,
  n_iter: 1,
  steps: 20,
  cfg_scale: 7,
  width: 512,
  height: 512,
  restore_faces: false,
  tiling: false,
  do_not_save_samples: false,
  do_not_save_grid: false,
  negative_prompt: "",
  eta: 1,
  s_churn: 0,
  s_tmax: 0,
  s_tmin: 0,
  s_noise: 1,
  override_settings: {},
  override_settings_restore_afterwards: true,
  sampler_name: "Euler a",
  scheduler: "automatic",
  sampler_index: "Euler a",
  script_name: null,
  script_args: [],
  send_images: true,
  save_images: false,
  alwayson_scripts: {},
};
/** The default form of the interface itself, as far as both routes have it. */
const interfaceDefaults = {
  ...webuiapiDefaults,
  styles: null,
  seed_resize_from_h: -1,
  seed_resize_from_w: -1,
  sampler_name: null,
  scheduler: null,
  sampler_index: "Euler",
  restore_faces: null,
  tiling: null,
  eta: null,
  s_min_uncond: null,
  s_churn: null,
  s_tmax: null,
  s_tmin: null,
  s_noise: null,
  override_settings: null,
  refiner_checkpoint: null,
  refiner_switch_at: null,
  disable_extra_networks: false,
  firstpass_image: null,
  comments: null,
  force_task_id: null,
  infotext: null,
};
const secondPass = {
  enable_hr: false,
  hr_scale: 2,
  hr_upscaler: "Latent",
  hr_second_pass_steps: 0,
  hr_resize_x: 0,
  hr_resize_y: 0,
  hr_checkpoint_name: null,
  hr_sampler_name: null,
  hr_scheduler: null,
  hr_prompt: "",
  hr_negative_prompt: "",
  denoising_strength: 0.7,
  firstphase_width: 0,
  firstphase_height: 0,
};
const imageDefaults = {
  init_images: [`data:image/png;base64,${image}`],
  resize_mode: 0,
  denoising_strength: 0.75,
  mask_blur: 4,
  inpainting_fill: 0,
  inpaint_full_res: true,
  inpaint_full_res_padding: 0,
  inpainting_mask_invert: 0,
  include_init_images: false,
};
const sillyTavern = {
  url: "http://127.0.0.1:9999",
  auth: "any:key",
  prompt,
  negative_prompt: "blurry",
  sampler_name: "Euler a",
  scheduler: "karras",
  steps: 20,
  cfg_scale: 7,
  width: 512,
  height: 512,
  restore_faces: false,
  enable_hr: false,
  hr_upscaler: "Latent",
  hr_scale: 1,
  hr_additional_modules: [],
  denoising_strength: 0.7,
  hr_second_pass_steps: 0,
  override_settings: { CLIP_stop_at_last_layers: 1, forge_additional_modules: [] },
  override_settings_restore_afterwards: true,
  clip_skip: 1,
  save_images: true,
  send_images: true,
  do_not_save_grid: false,
  do_not_save_samples: false,
};
const get = async ({ url }: TestServer, path: string) => (await fetch(`${url}/sdapi/v1/${path}`)).json();
const draw = ({ post }: TestServer, body: object, headers = {}) => post("/sdapi/v1/txt2img", body, headers);

async function refusal(response: Response): Promise<[number, string]> {
  const { error, detail } = (await response.json()) as { error: string; detail: string };
  expect(detail.length).toBeGreaterThan(10);
  return [response.status, error];
}

describe("POST /sdapi/v1/txt2img", () => {
  test("answers with images, settings and seeds", async () => {
    const server = serve();
    const asked = { prompt, negative_prompt: "blue", seed: 7, batch_size: 2, width: 64, height: 128, steps: 3 };
    const text = await (await draw(server, asked)).text();
    checker(SdapiImages)(JSON.parse(text));
    await expectGolden("sdapi.json", text);
  });

  test("accepts that interface's sampler names and default fields, and LoRA weights in the prompt", async () => {
    const server = serve();
    const asked = {
      prompt: `${prompt} <lora:ink:0.5> <lora:oil>`,
      sampler_name: "DPM++ 2S a",
      scheduler: "Automatic",
      cfg_scale: 7,
      seed: -1,
      n_iter: 3,
      send_images: true,
      save_images: true,
      enable_hr: false,
      hr_scale: 2,
      hr_additional_modules: ["Use same choices"],
      denoising_strength: 0.7,
      restore_faces: false,
      styles: [],
      subseed: -1,
      alwayson_scripts: {},
      override_settings: { CLIP_stop_at_last_layers: 1, sd_vae: "Automatic" },
      script_args: [],
    };
    expect((await draw(server, asked)).status).toBe(200);
    const [work] = server.drawer.asked;
    expect(work).toMatchObject({ prompt, sampler: "dpm++2s_a", guidance: 7, count: 3 });
    expect(work?.adapters).toEqual([
      { name: "ink", scale: 0.5 },
      { name: "oil", scale: 1 },
    ]);
    expect(work).not.toHaveProperty("scheduler");
  });

  test("lets a model without guidance ignore a negative prompt, unless the request sets the guidance", async () => {
    const server = serve();
    for (const more of [{ negative_prompt: "blurry" }, { negative_prompt: "blurry", cfg_scale: 1 }, {}]) {
      expect((await draw(server, { prompt, ...more })).status).toBe(200);
    }
    const ignoring = server.drawer.asked.map(({ takesNoNegative }) => takesNoNegative);
    expect(ignoring).toEqual([true, undefined, undefined]);
  });

  test.each([
    ["webuiapi", { ...webuiapiDefaults, ...secondPass }, "euler_a", undefined],
    ["SillyTavern", sillyTavern, "euler_a", "karras"],
    ["the interface", { ...interfaceDefaults, ...secondPass }, "euler", undefined],
  ])("accepts all that %s sends by default", async (_, body, sampler, scheduler) => {
    const server = serve();
    expect((await draw(server, body)).status).toBe(200);
    const [work] = server.drawer.asked;
    expect([work?.sampler, work?.scheduler, work?.steps]).toEqual([sampler, scheduler, 20]);
  });

  test.each([
    ["DPM++ 2M", "SGM Uniform", "dpm++2m", "sgm_uniform"],
    ["DPM++ 2M", "SGMUniform", "dpm++2m", "sgm_uniform"],
    ["dpm++2m", "kl_optimal", "dpm++2m", "kl_optimal"],
    ["Euler", "KL Optimal", "euler", "kl_optimal"],
    ["Euler", "Normal", "euler", "discrete"],
    ["Euler", "Align Your Steps", "euler", "ays"],
    ["DPM++ 2M Karras", undefined, "dpm++2m", "karras"],
    ["DPM++ 2S a Karras", "Automatic", "dpm++2s_a", "karras"],
    ["DPM++ 2M Exponential", "Exponential", "dpm++2m", "exponential"],
    ["LMS Karras", "", "lms", "karras"],
    // The model refuses these two: no sampler has such a name, and it has no such scheduler.
    ["DPM++ 2M Karras", "Exponential", "dpm++2mkarras", "exponential"],
    ["Euler", "Beta", "euler", "beta"],
  ])("takes the names %j and %j", async (sampler_name, scheduler, sampler, schedule) => {
    const server = serve();
    await draw(server, { prompt, sampler_name, scheduler });
    const [work] = server.drawer.asked;
    expect([work?.sampler, work?.scheduler]).toEqual([sampler, schedule]);
  });

  test("lists the names that there are when one is none of them", () => {
    const traits = { multiple: 16, hasTinyDecoder: false, needsReference: false, scheduler: "simple", scale: 1 };
    const painter = { model: serve().drawer.known, traits, adapters: [] };
    const plan = (names: object) => planOf({ ...decodeTextToImage({ prompt, ...names }).work, seed: 1 }, painter);
    expect(() => plan({ sampler_name: "UniPC" })).toThrow("must be one of euler, euler_a");
    expect(() => plan({ sampler_name: "Euler Karras" })).toThrow("'scheduler' must be one of simple");
    expect(() => plan({ scheduler: "Beta" })).toThrow("'scheduler' must be one of simple");
  });

  test.each([
    [{}],
    [{ prompt: " " }],
    [{ prompt, steps: 151 }],
    [{ prompt, width: 64 }],
    [{ prompt, width: 100, height: 64 }],
    [{ prompt, batch_size: 4, n_iter: 3 }],
    [{ prompt, seed: -2 }],
    [{ prompt, sampler_index: 3 }],
    [{ prompt, restore_faces: true }],
    [{ prompt, enable_hr: true }],
    [{ prompt, tiling: true }],
    [{ prompt, styles: ["x"] }],
    [{ prompt, send_images: false }],
    [{ prompt, eta: 0.5 }],
    [{ prompt, s_noise: 1.1 }],
    [{ prompt, s_churn: 1 }],
    [{ prompt, clip_skip: 2 }],
    [{ prompt, clip_skip: "1" }],
    [{ prompt, toString: 1 }],
    [{ prompt, override_settings: { CLIP_stop_at_last_layers: 2 } }],
    [{ prompt, script_name: "X/Y/Z plot" }],
    [{ prompt, alwayson_scripts: { controlnet: {} } }],
    [{ prompt, override_settings: { sd_vae: "x" } }],
    [{ prompt, override_settings: { sd_model_checkpoint: "nobody" } }],
  ])("refuses %j in that interface's form", async (body) => {
    const server = serve();
    expect(await refusal(await draw(server, body))).toEqual([400, expect.stringMatching(/^(invalid|unsupp|missing)/)]);
    expect(server.drawer.asked).toEqual([]);
  });

  test.each([
    [{ sampler_name: "qq" }, "sampler", "sampler_name"],
    [{ sampler_index: "qq" }, "sampler", "sampler_index"],
    [{ scheduler: "Beta" }, "scheduler", "scheduler"],
    [{}, "size", "width"],
    [{ prompt: `${prompt} <lora:qq:1>` }, "lora", "prompt.lora"],
  ])("names the field of this interface when the model refuses %j", async (body, ours, theirs) => {
    const server = serve();
    server.drawer.refusal = new SvcError("invalid_value", `'${ours}' must be another.`, { param: ours });
    const response = await draw(server, { prompt, ...body });
    expect([response.status, await response.json()]).toMatchObject([400, { detail: `'${theirs}' must be another.` }]);
  });

  test("refuses an invalid request", async () => {
    await expectGolden("sdapi-refused.json", await (await draw(serve(), { prompt, tiling: true })).text());
  });
});

describe("POST /sdapi/v1/img2img", () => {
  const change = ({ post }: TestServer, body: object) => post("/sdapi/v1/img2img", { prompt, ...body });

  test("changes the image as strongly as requested", async () => {
    const server = serve();
    for (const data of [image, `data:image/png;base64,${image}`]) {
      const response = await change(server, { init_images: [data], denoising_strength: 0.4, mask_blur: 4 });
      expect(response.status).toBe(200);
    }
    await change(server, { init_images: [image] });
    expect(server.drawer.asked.map(({ edit }) => edit?.strength)).toEqual([0.4, 0.4, 0.75]);
  });

  test("lets a model without guidance ignore a negative prompt, unless the request sets the guidance", async () => {
    const server = serve();
    for (const more of [{ negative_prompt: "blurry" }, { negative_prompt: "blurry", cfg_scale: 1 }, {}]) {
      expect((await change(server, { init_images: [image], ...more })).status).toBe(200);
    }
    const ignoring = server.drawer.asked.map(({ takesNoNegative }) => takesNoNegative);
    expect(ignoring).toEqual([true, undefined, undefined]);
  });

  test.each([
    ["webuiapi", { ...webuiapiDefaults, ...imageDefaults, image_cfg_scale: 1.5, initial_noise_multiplier: 1 }],
    ["the interface", { ...interfaceDefaults, ...imageDefaults, image_cfg_scale: null, mask: null, latent_mask: null }],
  ])("accepts all that %s sends by default", async (_, body) => {
    const server = serve();
    expect((await change(server, body)).status).toBe(200);
    expect(server.drawer.asked[0]?.edit?.strength).toBe(0.75);
  });

  test.each([
    [{}, 400],
    [{ init_images: [] }, 400],
    [{ init_images: [image, image] }, 400],
    [{ init_images: ["no base64!"] }, 400],
    [{ init_images: ["aGk="] }, 400],
    [{ init_images: [image], mask: image }, 400],
    [{ init_images: [image], initial_noise_multiplier: 0.5 }, 400],
    [{ init_images: [image], denoising_strength: 0 }, 400],
    [{ init_images: [Buffer.alloc(20 * 1024 * 1024 + 1).toString("base64")] }, 413],
  ])("refuses an unsupported request", async (body, status) => {
    const server = serve();
    expect((await refusal(await change(server, body)))[0]).toBe(status);
    expect(server.drawer.asked).toEqual([]);
  });
});

describe("settings", () => {
  test("name the current model, and select another as Open WebUI does", async () => {
    const second = new FakeDrawer("second");
    const server = serve(undefined, {}, [new OfferedModels([offeredImages(second)])]);
    const options = (await get(server, "options")) as { sd_model_checkpoint: string };
    expect(options.sd_model_checkpoint).toBe("fake-drawer");
    const models = (await get(server, "sd-models")) as { title: string; model_name: string }[];
    expect(models.map(({ title, model_name }) => [title, model_name])).toEqual([
      ["fake-drawer", "fake-drawer"],
      ["second", "second"],
    ]);
    const choose = (body: object) => server.post("/sdapi/v1/options", body);
    expect((await choose({ ...options, sd_model_checkpoint: "second" })).status).toBe(200);
    expect(await get(server, "options")).toMatchObject({ sd_model_checkpoint: "second" });
    await draw(server, { prompt });
    await draw(server, { prompt, override_settings: { sd_model_checkpoint: "fake-drawer" } });
    expect([second.asked.length, server.drawer.asked.length]).toEqual([1, 1]);
    expect(await refusal(await choose({ sd_model_checkpoint: "nobody" }))).toEqual([400, "invalid_value"]);
    expect(await refusal(await choose({ sd_vae: "x" }))).toEqual([400, "unsupported_parameter"]);
    // The selection applies to this API only.
    await server.post("/v1/images/generations", { prompt });
    expect(server.drawer.asked.length).toBe(2);
  });

  test("list samplers and schedulers once the model is loaded", async () => {
    const server = serve();
    expect([await get(server, "samplers"), await get(server, "schedulers")]).toEqual([[], []]);
    await draw(server, { prompt });
    const names = (await get(server, "samplers")) as { name: string }[];
    expect(names.map(({ name }) => name)).toEqual(["euler", "euler_a"]);
    expect(await get(server, "schedulers")).toMatchObject([{ name: "simple" }]);
  });

  test("are off without the compatibility APIs", async () => {
    expect((await fetch(`${serve(undefined, { compatibilityApis: false }).url}/sdapi/v1/options`)).status).toBe(404);
  });
});

describe("progress", () => {
  test("is reported, and an interrupt cancels the request", async () => {
    const server = serve();
    const steps = [Promise.resolve(), new Promise(() => {})];
    Object.defineProperty(server.drawer, "gate", { get: () => steps.shift() });
    server.drawer.stepSeconds = 2;
    expect(await get(server, "progress")).toMatchObject({ progress: 0, state: { job_count: 0 } });
    const answer = draw(server, { prompt, steps: 4 }, { "x-request-id": "one" });
    await until(() => server.requests.history.progressOf("one")?.step === 1);
    const told = checker(SdapiProgress)(await get(server, "progress"));
    expect(told).toMatchObject({
      progress: 0.25,
      eta_relative: 6,
      state: { job_count: 1, sampling_step: 1, sampling_steps: 4 },
    });
    await server.post("/sdapi/v1/interrupt", {});
    const interrupted = await answer;
    expect(await interrupted.clone().json()).toMatchObject({ detail: "The request was cancelled." });
    expect(await refusal(interrupted)).toEqual([499, "request_cancelled"]);
    expect(server.requests.activeCount).toBe(0);
  });

  test("an interrupt also cancels a request whose image is still being stored", async () => {
    const server = serve();
    const { pictures } = server.images;
    const receive = pictures.receive.bind(pictures);
    const stored = Promise.withResolvers<void>();
    pictures.receive = async (...file) => {
      await stored.promise;
      return receive(...file);
    };
    const answer = server.post("/sdapi/v1/img2img", { prompt, init_images: [image] });
    await until(async () => checker(SdapiProgress)(await get(server, "progress")).state.job_count === 1);
    await server.post("/sdapi/v1/interrupt", {});
    stored.resolve();
    expect(await refusal(await answer)).toEqual([499, "request_cancelled"]);
    expect([server.drawer.asked, leftovers(server)]).toEqual([[], []]);
  });

  test("a request that is interrupted while its image is read is logged as cancelled", async () => {
    const server = serve();
    server.images.picture = (_data, _field, signal) => abortable(new Promise(() => {}), signal);
    const answer = server.post("/sdapi/v1/img2img", { prompt, init_images: [image] });
    await until(async () => checker(SdapiProgress)(await get(server, "progress")).state.job_count === 1);
    await server.post("/sdapi/v1/interrupt", {});
    expect(await refusal(await answer)).toEqual([499, "request_cancelled"]);
    const line = () => server.log.lines.find(({ fields }) => fields["route"] === "/sdapi/v1/img2img");
    await until(() => line() !== undefined);
    expect(line()?.fields).toMatchObject({ finish: "cancelled" });
  });

  test("is separate for each API key, and an interrupt is never rate limited", async () => {
    const keys = {
      apiKeys: ["ada", "bob"].map((name) => ({ name, key: `key of ${name}`.replaceAll(" ", "-") })),
      keyRpm: 1,
    };
    const server = serve(undefined, keys);
    server.drawer.gate = new Promise(() => {});
    const as = (name: string) => ({ "x-api-key": `key-of-${name}` });
    const answer = draw(server, { prompt }, as("ada"));
    await until(() => server.drawer.asked.length === 1);
    const jobs = async (name: string) => {
      const response = await fetch(`${server.url}/sdapi/v1/progress`, { headers: as(name) });
      return ((await response.json()) as SdapiProgress).state.job_count;
    };
    expect([await jobs("ada"), await jobs("bob")]).toEqual([1, 0]);
    await server.post("/sdapi/v1/interrupt", {}, as("bob"));
    expect(server.requests.activeCount).toBe(1);
    expect((await server.post("/sdapi/v1/interrupt", {}, as("ada"))).status).toBe(200);
    expect((await answer).status).toBe(499);
  });
});
