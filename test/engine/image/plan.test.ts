// How a request for an image is planned, and which parameters are refused.

import { expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import type { ImageModel, ImageWork } from "../../../src/domain/image.ts";
import { habitsOf } from "../../../src/engine/image/child/families.ts";
import { planOf, sizesOf, type Painter } from "../../../src/engine/image/child/plan.ts";

const model: ImageModel = {
  family: "SD 1.x",
  bytes: 1,
  device: "CPU",
  size: { width: 512, height: 512 },
  largestSide: 1024,
  steps: 20,
  guidance: 7,
  sampler: "euler_a",
  samplers: ["euler", "euler_a"],
  schedulers: ["discrete", "karras"],
  adapters: ["ink"],
  edits: { mask: true, references: false },
};
const painter: Painter = {
  model,
  traits: { multiple: 64, hasTinyDecoder: false, needsReference: false, scheduler: "discrete", scale: 1 },
  adapters: [{ name: "ink", path: "/ink.safetensors" }],
};
const work: ImageWork = {
  prompt: "a cat",
  count: 1,
  seed: 1,
  previews: 0,
  encoding: { format: "png", withParameters: true },
};
const image = { path: "/cat.png", field: "image" };
const edit = { image, storedSize: { width: 640, height: 480 } };

/** Returns the field that is refused. */
function refused(changes: Partial<ImageWork>, by: Painter = painter): string | undefined {
  try {
    planOf({ ...work, ...changes }, by);
    return undefined;
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    expect(["invalid_value", "unsupported_parameter"]).toContain(error.code);
    return error.details.param;
  }
}

test("parameters default to those of the model", () => {
  const usual = { size: model.size, steps: 20, guidance: 7, sampler: "euler_a", scheduler: "discrete", adapters: [] };
  expect(planOf(work, painter)).toMatchObject(usual);
  const adapters = [{ name: "ink", scale: 0.5 }];
  expect(
    planOf({ ...work, steps: 5, guidance: 1, sampler: "euler", scheduler: "karras", adapters }, painter),
  ).toMatchObject({
    steps: 5,
    guidance: 1,
    sampler: "euler",
    scheduler: "karras",
    adapters: [{ path: "/ink.safetensors", scale: 0.5 }],
  });
  expect(planOf({ ...work, stepShare: 0.5 }, painter).steps).toBe(10);
  expect(planOf({ ...work, stepShare: 0.01 }, painter).steps).toBe(1);
});

test("a parameter that the model cannot follow is refused with its field", () => {
  expect(refused({})).toBeUndefined();
  expect(refused({ size: { width: 500, height: 512 } })).toBe("size");
  expect(refused({ size: { width: 2048, height: 512 } })).toBe("size");
  expect(refused({ size: { width: 0, height: 512 } })).toBe("size");
  expect(refused({ guidance: 1, negativePrompt: "dogs" })).toBe("negative_prompt");
  expect(refused({ negativePrompt: "dogs" })).toBeUndefined();
  const turbo = { ...painter, model: { ...model, guidance: 1 } };
  expect(refused({ negativePrompt: "dogs" }, turbo)).toBe("negative_prompt");
  expect(refused({ negativePrompt: "dogs", takesNoNegative: true }, turbo)).toBeUndefined();
  expect(refused({ sampler: "none" })).toBe("sampler");
  expect(refused({ scheduler: "none" })).toBe("scheduler");
  expect(refused({ adapters: [{ name: "none", scale: 1 }] })).toBe("lora");
  expect(refused({ adapters: [{ name: "ink", scale: 9 }] })).toBe("lora");
  expect(refused({ edit: { ...edit, references: [image] } })).toBe("image");
  const edits = { mask: false, references: false };
  expect(refused({ edit: { ...edit, mask: image } }, { ...painter, model: { ...model, edits } })).toBe("mask");
  expect(refused({}, { ...painter, traits: { ...painter.traits, needsReference: true } })).toBe("image");
});

test("a model that takes reference images gets the image as one, unless a strength or a mask keeps part of it", () => {
  const shown: Painter = { ...painter, model: { ...model, edits: { mask: true, references: true } } };
  const byReference = (changes: Partial<NonNullable<ImageWork["edit"]>>, by = shown) =>
    planOf({ ...work, edit: { ...edit, ...changes } }, by).byReference;
  expect(byReference({})).toBeTrue();
  expect(byReference({ strength: 0.5 })).toBeFalse();
  expect(byReference({ mask: image })).toBeFalse();
  expect(byReference({}, painter)).toBeFalse();
});

test("an edited image keeps its size as far as the model supports it", () => {
  const plan = planOf({ ...work, edit }, painter);
  const drawn = (width: number, height: number) => Object.values(sizesOf(plan, painter, { width, height }).drawn);
  expect(drawn(512, 512)).toEqual([512, 512]);
  expect(drawn(500, 300)).toEqual([512, 320]);
  expect(drawn(4000, 3000)).toEqual([576, 448]);
  expect(drawn(10, 10)).toEqual([64, 64]);
});

test("a demonstration model draws in one size and is enlarged to other square sizes", () => {
  const size = { width: 128, height: 128 };
  const demo: Painter = { ...painter, drawsIn: size, model: { ...model, size, largestSide: 1024 } };
  const large = { width: 1000, height: 1000 };
  const plan = planOf({ ...work, size: large }, demo);
  expect(sizesOf(plan, demo)).toEqual({ drawn: size, delivered: large });
  expect(refused({ size: { width: 1536, height: 1024 } }, demo)).toBe("size");
  expect(refused({ size: { width: 1040, height: 1040 } }, demo)).toBe("size");
});

test("default parameters depend on the model family, and on a name that indicates few steps", () => {
  expect(habitsOf("SD 1.x", "v1-5")).toMatchObject({ size: { width: 512 }, steps: 20, guidance: 7 });
  expect(habitsOf("SDXL", "sdxl-lightning")).toMatchObject({ size: { width: 1024 }, steps: 4, guidance: 1 });
  expect(habitsOf("SDXL", "sd_xl_turbo_1.0_fp16")).toMatchObject({ size: { width: 512 }, steps: 4, guidance: 1 });
  expect(habitsOf("SD 2.x", "sd-turbo")).toMatchObject({ size: { width: 512 }, steps: 4, guidance: 1 });
  expect(habitsOf("Z-Image", "z-image-turbo")).toMatchObject({ steps: 8, guidance: 1 });
  expect(habitsOf("Z-Image", "z-image-Q4_K")).toMatchObject({ steps: 28, guidance: 4 });
  expect(habitsOf("Flux.2 klein", "klein")).toMatchObject({ largestSide: 2048, steps: 4 });
  expect(habitsOf("Something new", "x")).toMatchObject({ size: { width: 1024 } });
});

test("an upscaler enlarges by its own factor or a smaller one, whatever the sides of the image", () => {
  const upscaler: Painter = {
    ...painter,
    model: { ...model, size: { width: 8192, height: 8192 }, largestSide: 8192 },
    traits: { ...painter.traits, multiple: 1, needsReference: true, scale: 4 },
  };
  const sizes = (upscale: NonNullable<ImageWork["upscale"]>) =>
    sizesOf(planOf({ ...work, edit, upscale }, upscaler), upscaler, { width: 33, height: 17 });
  expect(sizes({})).toEqual({ drawn: { width: 33, height: 17 }, delivered: { width: 132, height: 68 } });
  expect(sizes({ scale: 1.5 }).delivered).toEqual({ width: 50, height: 26 });
  expect(refused({ edit, upscale: { scale: 4 } }, { ...upscaler, traits: { ...upscaler.traits, scale: 2 } })).toBe(
    "scale",
  );
});
