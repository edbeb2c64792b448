// Reading source images and writing results.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { encoded, withText } from "../../../src/engine/image/child/encode.ts";
import { composed, maskFor, readSources, resized } from "../../../src/engine/image/child/sources.ts";
import { Semaphore } from "../../../src/domain/semaphore.ts";
import { neverAborted } from "../../../src/media/slices.ts";
import { sharedFolder } from "../../support/folders.ts";
import { rejection } from "../../support/thrown.ts";
import { transparentPng } from "../../support/transparent-png.ts";

const folder = sharedFolder();

const WIDE = { width: 40, height: 20 };
/** Red on the left, blue on the right. */
const pixels = {
  ...WIDE,
  rgb: new Uint8Array(WIDE.width * WIDE.height * 3).map((_, at) =>
    at % 3 === (Math.floor(at / 3) % 40 < 20 ? 0 : 2) ? 255 : 0,
  ),
};
const memory = new Semaphore(2 ** 30);
const png = { format: "png", withParameters: false } as const;

async function file(name: string, bytes: Uint8Array) {
  const path = join(folder, name);
  await Bun.write(path, bytes);
  return { path, field: name };
}

test("an image is decoded, and its middle is fitted to the size", async () => {
  const image = await file("image", await encoded(pixels, WIDE, png));
  const sources = await readSources({ image }, memory, neverAborted);
  expect(sources.image).toMatchObject(WIDE);
  const square = await resized(sources.image, { width: 32, height: 32 });
  expect(square).toMatchObject({ width: 32, height: 32 });
  expect([...square.rgb.subarray(0, 3)]).toEqual([255, 0, 0]);
  expect([...square.rgb.subarray(31 * 3, 32 * 3)]).toEqual([0, 0, 255]);
  expect((await resized(pixels, WIDE)).rgb).toEqual(pixels.rgb);
});

test("a mask is redrawn where it is transparent, and the rest stays untouched", async () => {
  const image = await file("image", await encoded(pixels, WIDE, png));
  const mask = await file("mask", transparentPng(WIDE.width, WIDE.height, 0));
  const { mask: opacity = { ...WIDE, data: new Uint8Array() } } = await readSources(
    { image, mask },
    memory,
    neverAborted,
  );
  const drawn = maskFor(opacity, WIDE);
  expect([drawn[0], drawn[39]]).toEqual([255, 0]);
  // In the square crop of the middle, the left half is transparent too.
  const square = maskFor(opacity, { width: 10, height: 10 });
  expect([...square.subarray(0, 10)]).toEqual([255, 255, 255, 255, 255, 0, 0, 0, 0, 0]);
  const white = new Uint8Array(pixels.rgb.length).fill(255);
  const both = composed(white, pixels.rgb, drawn);
  expect([...both.subarray(0, 3), ...both.subarray(39 * 3, 40 * 3)]).toEqual([255, 255, 255, 0, 0, 255]);
});

test("a photo of any size that other routes take is shrunk, and its mask is as large as the photo", async () => {
  const size = { width: 4400, height: 3900 };
  const large = new Bun.Image(transparentPng(48, 36, 0)).resize(size.width, size.height, { fit: "fill" });
  const bytes = await large.png({ compressionLevel: 1 }).bytes();
  const [image, mask] = [await file("photo", bytes), await file("cut", bytes)];
  const sources = await readSources({ image, mask }, memory, neverAborted);
  expect(sources).toMatchObject({
    image: { width: 4096, height: 3631 },
    mask: size,
  });
  const drawn = maskFor(sources.mask ?? { ...size, data: new Uint8Array() }, { width: 8, height: 7 });
  expect([...drawn.subarray(0, 8)]).toEqual([255, 255, 255, 255, 0, 0, 0, 0]);
});

test("data that is not an image, or too large, is refused with its field", async () => {
  const image = await file("image", await encoded(pixels, WIDE, png));
  const mask = (name: string, bytes: Uint8Array) =>
    file(name, bytes).then((made) => readSources({ image, mask: made }, memory, neverAborted));
  expect(await rejection(mask("opaque", transparentPng(40, 20, 255)))).toEqual(["invalid_value", "opaque"]);
  expect(await rejection(mask("turned", transparentPng(20, 40, 0)))).toEqual(["invalid_value", "turned"]);
  const alone = (name: string, bytes: Uint8Array) =>
    file(name, bytes).then((made) => readSources({ image: made }, memory, neverAborted));
  expect(await rejection(alone("text", Buffer.from("no image at all")))).toEqual(["invalid_value", "text"]);
  expect(await rejection(alone("empty", new Uint8Array()))).toEqual(["invalid_value", "empty"]);
  const whole = await encoded(pixels, WIDE, png);
  expect(await rejection(alone("cut", whole.subarray(0, whole.length - 30)))).toEqual(["invalid_value", "cut"]);
  const bomb = Buffer.from(transparentPng(40, 20, 0));
  bomb.writeUInt32BE(50_000, 16);
  bomb.writeUInt32BE(50_000, 20);
  expect(await rejection(alone("bomb", bomb))).toEqual(["invalid_value", "bomb"]);
  expect(await rejection(alone("large", new Uint8Array(20_000_001)))).toEqual(["invalid_value", "large"]);
});

test("an image is written in each format, enlarged on request, with its generation parameters", async () => {
  const size = { width: 80, height: 40 };
  for (const format of ["png", "jpeg", "webp"] as const) {
    const bytes = await encoded(pixels, size, { format, withParameters: true, quality: 0 }, "how");
    expect(await new Bun.Image(bytes).metadata()).toEqual({ ...size, format });
    expect(Buffer.from(bytes).includes("how")).toBe(format === "png");
  }
  const plain = await encoded(pixels, WIDE, png, "how");
  expect(Buffer.from(plain).includes("how")).toBeFalse();
  const told = withText(plain, "parameters", "ein schönes Bild \ud800");
  expect(await new Bun.Image(told).metadata()).toMatchObject(WIDE);
  expect(Buffer.from(told).includes(Buffer.from("iTXtparameters\0\0\0\0\0ein schönes Bild \ufffd"))).toBeTrue();
});
