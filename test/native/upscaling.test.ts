// Making pictures larger through the real library, with a model that repeats each pixel.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DrawOptions } from "../../ffi/image/api.ts";
import { upscalerBytes } from "../models/make-upscaler.ts";
import { draw, DRAW, imageRig, isBuilt, load, options, OWNER, pixelAt } from "./image-harness.ts";

setDefaultTimeout(60_000);

const rig = imageRig();

/** Of all colours there are, a few. */
function picture(width: number, height: number): DrawOptions["pictures"][number] {
  const pixels = Uint8Array.from({ length: width * height * 3 }, (_, at) => (at * 37) % 256);
  return { use: "image", width, height, pixels };
}

async function loadUpscaler(): Promise<string | undefined> {
  const path = join(rig.folder, "upscaler.safetensors");
  writeFileSync(path, upscalerBytes());
  return load(rig, { path, textEncoders: [], taesd: "", upscales: true });
}

describe.skipIf(!isBuilt)("an upscaling model", () => {
  test("makes a picture larger by its factor", async () => {
    expect(await loadUpscaler()).toBeUndefined();
    expect(rig.library.traits()).toMatchObject({ family: "ESRGAN", scale: 4, needsReference: true });
    const small = picture(9, 6);
    const large = await draw(rig, { pictures: [small] });
    expect(large.length).toBe(36 * 24 * 3);
    const differences = Array.from({ length: 36 * 24 }, (_, at) => {
      const [x, y] = [at % 36, Math.floor(at / 36)];
      const from = pixelAt(small.pixels, Math.floor(x / 4), Math.floor(y / 4), 9);
      return Math.max(...pixelAt(large, x, y, 36).map((value, colour) => Math.abs(value - (from[colour] ?? 0))));
    });
    expect(Math.max(...differences)).toBeLessThanOrEqual(1);
    expect(() => rig.library.start(options())).toThrow("one picture");
  });

  test("goes tile by tile, stops in the middle, and makes the next picture as if nothing had been", async () => {
    const small = picture(9, 6);
    const before = await draw(rig, { pictures: [small] });
    rig.library.start(options({ pictures: [picture(600, 400)] }));
    while (rig.library.progress(OWNER).step < 1) await Bun.sleep(2);
    expect(rig.library.progress(OWNER).steps).toBeGreaterThan(10);
    rig.library.stop(OWNER);
    while (rig.library.state(OWNER) === "drawing") await Bun.sleep(2);
    expect(rig.library.state(OWNER)).toBe("none");
    expect(await draw(rig, { pictures: [small] })).toEqual(before);
  });

  test("pauses between two tiles while another picture is made larger, and ends with the same pixels", async () => {
    const [small, large] = [picture(9, 6), picture(250, 6)];
    const [alone, other] = [await draw(rig, { pictures: [large] }), await draw(rig, { pictures: [small] })];
    rig.library.start(options({ owner: 2, pictures: [large] }));
    while (rig.library.progress(2).step < 1) await Bun.sleep(1);
    rig.library.pause(2);
    while (rig.library.state(2) === "drawing") await Bun.sleep(1);
    expect(rig.library.state(2)).toBe("paused");
    expect(await draw(rig, { pictures: [small] })).toEqual(other);
    rig.library.resume(2, 1);
    while (rig.library.state(2) === "drawing") await Bun.sleep(2);
    expect(rig.library.take(2)).toEqual(alone);
  });

  test("is refused where the file holds another one", async () => {
    const { model } = DRAW;
    expect(await load(rig, { path: model, textEncoders: [], upscales: true })).toContain("no upscaling model");
  });
});
