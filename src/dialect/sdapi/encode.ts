// Encodes images, models and progress in the form of /sdapi/v1.

import type { SdapiImages, SdapiModels, SdapiProgress, SdapiSamplers, SdapiSchedulers } from "../../contract/sdapi.ts";
import type { ImageModel } from "../../domain/image.ts";
import type { Progress } from "../../domain/request-record.ts";
import type { DrawnImage } from "../images/encode.ts";
import type { SdapiCall } from "./decode.ts";

/**
 * Encodes images, which become text only when they are written, with the requested settings, and the model's own where
 * none were requested.
 */
export function encodeSdapiImages(
  images: readonly DrawnImage[],
  { work }: SdapiCall,
  { name, model }: { readonly name: string; readonly model: ImageModel | undefined },
): Omit<SdapiImages, "images"> & { readonly images: Iterable<string> } {
  const [first] = images;
  const settings = {
    prompt: work.prompt,
    negative_prompt: work.negativePrompt ?? "",
    width: first?.size.width ?? 0,
    height: first?.size.height ?? 0,
    batch_size: work.count,
    steps: work.steps ?? model?.steps ?? null,
    cfg_scale: work.guidance ?? model?.guidance ?? null,
    sampler_name: work.sampler ?? model?.sampler ?? null,
    seed: first?.seed ?? null,
  };
  const seeds = images.map(({ seed }) => seed);
  return {
    images: images.values().map(({ data }) => data.toBase64()),
    parameters: settings,
    info: JSON.stringify({
      ...settings,
      all_prompts: seeds.map(() => work.prompt),
      all_negative_prompts: seeds.map(() => settings.negative_prompt),
      all_seeds: seeds,
      sd_model_name: name,
    }),
  };
}

export const encodeSdapiModels = (names: readonly string[]): SdapiModels =>
  names.map((name) => ({ title: name, model_name: name, hash: null, sha256: null, filename: name, config: null }));

export const encodeSamplers = (model: ImageModel | undefined): SdapiSamplers =>
  (model?.samplers ?? []).map((name) => ({ name, aliases: [], options: {} }));

export const encodeSchedulers = (model: ImageModel | undefined): SdapiSchedulers =>
  (model?.schedulers ?? []).map((name) => ({
    name,
    label: name,
    aliases: null,
    default_rho: -1,
    need_inner_model: false,
  }));

/** Encodes progress. `stepSeconds`: duration of a recent step. */
export function encodeProgress(
  progress: Progress | undefined,
  stepSeconds: number | undefined,
  jobs: number,
): SdapiProgress {
  const { done = 0, of = 0, step = 0, steps = 0 } = progress ?? {};
  const left = (of - done) * steps - step;
  return {
    progress: of === 0 ? 0 : (done + (steps === 0 ? 0 : step / steps)) / of,
    eta_relative: Math.round(left * (stepSeconds ?? 0) * 10) / 10,
    state: {
      skipped: false,
      interrupted: false,
      job: progress ? "drawing" : "",
      job_count: jobs,
      job_timestamp: "0",
      job_no: done,
      sampling_step: step,
      sampling_steps: steps,
    },
    current_image: null,
    textinfo: null,
  };
}
