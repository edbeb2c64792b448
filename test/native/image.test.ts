// Drawing through the real library: what comes out, when it is stopped, and what it refuses.

import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ImageError } from "../../ffi/image/api.ts";
import { draw, DRAW, drawn, imageRig, isBuilt, load, options, OWNER, pixelAt, SIDE } from "./image-harness.ts";

setDefaultTimeout(60_000);

const rig = imageRig();
/** Nothing to look at, and soon drawn. */
const SMALL = { width: 32, height: 32, steps: 1 };
let inOneStep: Uint8Array = new Uint8Array();

describe.skipIf(!isBuilt)("the image library", () => {
  beforeAll(async () => {
    expect(await load(rig)).toBeUndefined();
    inOneStep = await draw(rig, SMALL);
  });

  test("draws what is described, by its seed, and shows it on the way", async () => {
    expect(rig.library.traits()).toMatchObject({ family: "Flux.2 klein", multiple: 16, hasTinyDecoder: true });
    const first = await draw(rig);
    const [red = 0, green = 0, blue = 0] = pixelAt(first, SIDE / 2, SIDE / 2);
    expect(red).toBeGreaterThan(150);
    expect(Math.max(green, blue)).toBeLessThan(100);
    expect(Math.min(...pixelAt(first, 3, 3))).toBeGreaterThan(200);
    // What was shown on the way leaves no trace.
    rig.library.start(options({ previews: 3 }));
    while (rig.library.state(OWNER) === "drawing") await Bun.sleep(2);
    expect(rig.library.progress(OWNER)).toEqual({ step: 2, steps: 2, previews: 1, width: SIDE, height: SIDE });
    expect(Math.min(...pixelAt(rig.library.preview(OWNER), 3, 3))).toBeGreaterThan(200);
    expect(rig.library.take(OWNER)).toEqual(first);
    expect(rig.library.state(OWNER)).toBe("none");
    expect(() => rig.library.start(options({ sampler: "none" }))).toThrow(ImageError);
    expect(() => rig.library.start(options({ width: 100 }))).toThrow("16");
    expect(rig.library.state(OWNER)).toBe("none");
  });

  test("takes every character in a description", async () => {
    // One of each kind, up to the last there is; what is beside letters goes by another way in the tokenizer.
    const prompt = "a\u0000\u0085é \u3000中😀 \u{c714e}\u{10ffff} \ufffe\ue000";
    expect((await draw(rig, { ...SMALL, prompt })).length).toBe(SMALL.width * SMALL.height * 3);
  });

  test("weighs parts of a description, also beside a number that is none, and reads long blanks", async () => {
    const prompt = (circle: string) => `${circle} on a white background`;
    expect(await draw(rig, { ...SMALL, prompt: prompt("(a red circle:1)") })).toEqual(inOneStep);
    expect(await draw(rig, { ...SMALL, prompt: prompt("(a red circle:0.1)") })).not.toEqual(inOneStep);
    for (const odd of [`(a red:...)${" ".repeat(7900)}circle`, "(".repeat(7900)]) {
      expect((await draw(rig, { ...SMALL, prompt: odd })).length).toBe(inOneStep.length);
    }
  });

  test("refuses a description of more tokens than its text encoder has memory for, and draws the next", async () => {
    const tooLong = draw(rig, { ...SMALL, prompt: "1".repeat(8000) });
    await expect(tooLong).rejects.toThrow(/at most 2048 tokens; got 80\d\d$/);
    const word = draw(rig, { ...SMALL, prompt: "\u4e2d\u6587\u5b57".repeat(2600) });
    await expect(word).rejects.toThrow("2048 tokens");
    expect((await draw(rig, SMALL)).length).toBe(SMALL.width * SMALL.height * 3);
  });

  test("stops in the middle of a step, and draws the next image as if nothing had been", async () => {
    rig.library.start(options({ ...SMALL, steps: 100 }));
    expect(() => rig.library.start(options())).toThrow(ImageError);
    while (rig.library.progress(OWNER).step < 1) await Bun.sleep(2);
    rig.library.drainLog();
    rig.library.stop(OWNER);
    while (rig.library.state(OWNER) === "drawing") await Bun.sleep(2);
    expect(rig.library.state(OWNER)).toBe("none");
    expect(() => rig.library.take(OWNER)).toThrow(ImageError);
    // It was on purpose, so nobody needs to read about it.
    expect(rig.library.drainLog()).toEqual([]);
    expect(await draw(rig, { ...SMALL, threads: 2 })).toEqual(inOneStep);
    expect(await draw(rig, { ...SMALL, seed: 2 })).not.toEqual(inOneStep);
  });

  test("pauses an image between two steps while others are drawn, and ends with the same pixels", async () => {
    const fitting = join(rig.folder, "pausing.safetensors");
    writeFileSync(fitting, adapterFile("diffusion_model.double_blocks.0.img_attn.proj"));
    const adapters = [{ path: fitting, scale: 1 }];
    // Its sampler draws noise in each step.
    const long = { ...SMALL, owner: 7, steps: 2, sampler: "euler_a", seed: 3 };
    const other = { ...SMALL, owner: 8, sampler: "euler_a", seed: 9, prompt: "a blue circle on a white background" };
    const adapted = await draw(rig, { ...long, adapters });
    const others = await draw(rig, other);
    rig.library.start(options({ ...long, adapters }));
    await paused(7);
    const { step } = rig.library.progress(7);
    expect(step).toBeLessThan(long.steps);
    expect(await draw(rig, other)).toEqual(others);
    expect(rig.library.progress(7).step).toBe(step);
    rig.library.resume(7, 1);
    expect(await drawn(rig, 7)).toEqual(adapted);
  });

  test("stops an image that has paused, at once or when nothing else is computed", async () => {
    rig.library.start(options({ ...SMALL, owner: 7, steps: 100 }));
    await paused(7);
    rig.library.stop(7);
    expect(rig.library.state(7)).toBe("none");
    rig.library.start(options({ ...SMALL, owner: 7, steps: 100 }));
    await paused(7);
    rig.library.start(options({ ...SMALL, owner: 8 }));
    expect(() => rig.library.resume(7, 1)).toThrow(ImageError);
    rig.library.stop(7);
    expect(rig.library.state(8)).toBe("drawing");
    expect(await drawn(rig, 8)).toEqual(inOneStep);
    expect(() => rig.library.pause(7)).toThrow(ImageError);
  });

  test("adds an adapter to one image and no other, and refuses one that does not fit", async () => {
    const layer = "diffusion_model.double_blocks.0.img_attn.proj";
    const fitting = join(rig.folder, "fitting.safetensors");
    writeFileSync(fitting, adapterFile(layer));
    const other = join(rig.folder, "other.safetensors");
    writeFileSync(other, adapterFile("diffusion_model.no_such_layer"));
    expect(await draw(rig, { ...SMALL, adapters: [{ path: fitting, scale: 1 }] })).not.toEqual(inOneStep);
    await expect(draw(rig, { ...SMALL, adapters: [{ path: other, scale: 1 }] })).rejects.toThrow("fits the model");
    expect(await draw(rig, SMALL)).toEqual(inOneStep);
  });

  test("refuses files that hold no model, or the wrong one", async () => {
    const damaged = join(rig.folder, "damaged.safetensors");
    writeFileSync(damaged, readFileSync(DRAW.model).fill(255, 8, 2000));
    expect(await load(rig, { path: damaged })).toContain("cannot read the image model");
    expect(await load(rig, { path: DRAW.textEncoder })).toContain("no image model is in");
    expect(await load(rig, { textEncoders: [DRAW.taesd] })).toContain("no text encoder");
    expect(await load(rig, { textEncoders: [] })).toBeDefined();
    expect(await load(rig)).toBeUndefined();
  });
});

/** Resolves when the image of this owner has paused. */
async function paused(owner: number): Promise<void> {
  rig.library.pause(owner);
  while (rig.library.state(owner) !== "paused") await Bun.sleep(2);
}

/** Two matrices whose product is added to the weights of a layer, 128 by 128. */
function adapterFile(layer: string): Uint8Array {
  const numbers = new Float32Array(2 * 128).map((_, at) => Math.sin(at));
  const bytes = numbers.byteLength;
  const entry = (shape: readonly number[], start: number) => ({
    dtype: "F32",
    shape,
    data_offsets: [start, start + bytes],
  });
  const header = Buffer.from(
    JSON.stringify({
      [`${layer}.lora_A.weight`]: entry([2, 128], 0),
      [`${layer}.lora_B.weight`]: entry([128, 2], bytes),
    }),
  );
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, Buffer.from(numbers.buffer), Buffer.from(numbers.buffer)]);
}
