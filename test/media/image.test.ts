// Images of every kind become upright RGB of the right size; incomplete ones are refused.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { Semaphore } from "../../src/domain/semaphore.ts";
import { jpegOfScans } from "../hostile/hostile-pictures.ts";
import {
  animatedWebp,
  blue,
  bmp,
  dataUrl,
  flag,
  gif,
  green,
  jpegWithExif,
  limitsWith,
  loadImage,
  paletteBmp,
  pngHeader,
  pngWithChunks,
  pngWithExif,
  pngWithTransparency,
  quarters,
  red,
  refusal,
  type Rgb,
  white,
  yellow,
} from "./files.ts";

// Encoders are slow when other programs use the processor.
setDefaultTimeout(60_000);

const upright = [red, green, blue, yellow];
const image = (bytes: Uint8Array): Bun.Image => new Bun.Image(bytes);
const png = (bytes: Uint8Array): Promise<Uint8Array> => image(bytes).png().bytes();
const jpeg = (bytes: Uint8Array): Promise<Uint8Array> => image(bytes).jpeg({ quality: 95 }).bytes();
const load = (bytes: Uint8Array) => loadImage(dataUrl(bytes));

const files: Record<string, Uint8Array> = {
  png: await png(flag(64, 32)),
  "png with a palette": await image(flag(64, 32)).png({ palette: true }).bytes(),
  jpeg: await jpeg(flag(64, 32)),
  "progressive jpeg": await image(flag(64, 32)).jpeg({ quality: 95, progressive: true }).bytes(),
  webp: await image(flag(64, 32)).webp({ quality: 95 }).bytes(),
  "lossless webp": await image(flag(64, 32)).webp({ lossless: true }).bytes(),
  bmp: flag(64, 32),
};

for (const [name, bytes] of Object.entries(files)) {
  test(`${name} is decoded, whatever its media type`, async () => {
    const { width, height, ...media } = await loadImage(dataUrl(bytes, "image/x-unheard-of"));
    expect([width, height]).toEqual([64, 32]);
    expect(quarters({ width, height, ...media })).toEqual(upright);
  });
}

test("equal images have the same id, also in different files; other images have other ids", async () => {
  const [fromPng, fromBmp, larger] = await Promise.all([
    load(files["png"] as Uint8Array),
    load(files["bmp"] as Uint8Array),
    load(await png(flag(32, 64))),
  ]);
  expect(fromPng.id).toBe(fromBmp.id);
  expect(fromPng.rgb).toEqual(fromBmp.rgb);
  expect(larger.id).not.toBe(fromPng.id);
  expect(larger.rgb.length).toBe(fromPng.rgb.length);
});

test("a gif is decoded to its first frame", async () => {
  const media = await load(gif(blue, red, green));
  expect([media.width, media.height]).toEqual([4, 2]);
  expect(quarters(media)).toEqual([blue, blue, blue, blue]);
});

test("a gif of a million empty blocks is refused", async () => {
  const bytes = gif(red);
  // Behind the header and the colour table.
  const file = Buffer.concat([
    bytes.subarray(0, 25),
    Buffer.alloc(3_000_000, Uint8Array.of(0x21, 0xfe, 0)),
    bytes.subarray(25),
  ]);
  expect(await refusal(load(file))).toBe("be a whole image; got a GIF file without a readable header.");
});

test("an animated webp is decoded to its first frame", async () => {
  const frames = await Promise.all(
    [flag(64, 32), bmp(64, 32, () => white)].map((one) => image(one).webp({ lossless: true }).bytes()),
  );
  const media = await load(animatedWebp(64, 32, frames));
  expect([media.width, media.height]).toEqual([64, 32]);
  expect(quarters(media)).toEqual(upright);
});

test("a rotated image is turned upright, in every format and byte order", async () => {
  const taken: Record<number, readonly Uint8Array[]> = {
    1: [flag(64, 32)],
    2: [await image(flag(64, 32)).flop().png().bytes()],
    3: [await image(flag(64, 32)).rotate(180).png().bytes()],
    4: [await image(flag(64, 32)).flip().png().bytes()],
    5: [await image(flag(64, 32)).rotate(90).flop().png().bytes()],
    6: [await image(flag(64, 32)).rotate(270).png().bytes()],
    7: [await image(flag(64, 32)).rotate(90).flip().png().bytes()],
    8: [await image(flag(64, 32)).rotate(90).png().bytes()],
  };
  for (const [orientation, [stored = new Uint8Array(0)]] of Object.entries(taken)) {
    const variants = [
      jpegWithExif(await jpeg(stored), Number(orientation)),
      jpegWithExif(await jpeg(stored), Number(orientation), false),
      pngWithExif(await png(stored), Number(orientation)),
    ];
    for (const variant of variants) {
      const media = await load(variant);
      expect([orientation, media.width, media.height]).toEqual([orientation, 64, 32]);
      expect([orientation, quarters(media)]).toEqual([orientation, upright]);
    }
  }
});

/** Returns an image of two adjacent colours, the left one with this opacity. */
async function halfTransparent(width: number, left: Rgb, alpha: number): Promise<string> {
  const stored = bmp(width, 2, (x) => (x < width / 2 ? left : red));
  const palette = await image(stored).png({ palette: true, colors: 2 }).bytes();
  return dataUrl(pngWithTransparency(palette, left, alpha));
}

test("transparent pixels become white, and half-transparent ones halfway", async () => {
  expect((await loadImage(await halfTransparent(4, blue, 0))).rgb.subarray(0, 12)).toEqual(
    Uint8Array.from([white, white, red, red].flat()),
  );
  expect(quarters(await loadImage(await halfTransparent(4, blue, 128)))).toEqual([
    [127, 127, 255],
    red,
    [127, 127, 255],
    red,
  ]);
});

test("transparent pixels do not darken the edge next to them when the image is scaled down", async () => {
  // An odd factor, so that some result pixels cover both colours. All of them are between white and red.
  const { width, rgb } = await loadImage(await halfTransparent(1502, [0, 0, 0], 0), undefined, "low");
  expect(width).toBe(512);
  expect(rgb.filter((value, index) => index % 3 === 0 && value !== 255)).toHaveLength(0);
  expect([rgb[1], rgb[width * 3 - 2]]).toEqual([255, 0]);
});

test("detail sets the size of an image for the engine, and no image is enlarged", async () => {
  const large = dataUrl(await jpeg(flag(2400, 1200)));
  const small = dataUrl(files["png"] as Uint8Array);
  const sizes = async (url: string, detail: "auto" | "low" | "high", limits = limitsWith({})) => {
    const { width, height } = await loadImage(url, limits, detail);
    return [width, height];
  };
  expect(await sizes(large, "low")).toEqual([512, 256]);
  expect(await sizes(large, "auto")).toEqual([1024, 512]);
  expect(await sizes(large, "high")).toEqual([2048, 1024]);
  expect(await sizes(large, "auto", limitsWith({ maxSide: { low: 10, auto: 100, high: 200 } }))).toEqual([100, 50]);
  expect(await sizes(small, "high")).toEqual([64, 32]);
  expect(await sizes(dataUrl(await png(bmp(3000, 1, () => red))), "low")).toEqual([512, 1]);
});

test("a header that claims a huge image is refused before anything is decoded", async () => {
  expect(await refusal(load(pngHeader(60_000, 60_000)))).toBe(
    "have at most 50 megapixels; got 60000 × 60000 pixels, 3600 megapixels.",
  );
  expect(await refusal(load(pngHeader(4_000_000_000, 1)))).toBe(
    "have at most 50 megapixels; got 4000000000 × 1 pixels, 4000 megapixels.",
  );
  expect(await refusal(load(pngHeader(100_000, 2)))).toBe("be at most 65535 pixels a side; got 100000 × 2 pixels.");
  const tiny = limitsWith({ maxPixels: 1000 });
  expect(await refusal(loadImage(dataUrl(files["webp"] as Uint8Array), tiny))).toContain("64 × 32 pixels");
});

test("an image without pixels is refused", async () => {
  expect(await refusal(load(pngHeader(0, 5)))).toBe("have pixels; got a PNG image of 0 × 5 pixels.");
});

test("a png with too many chunks is refused, and its first orientation counts", async () => {
  const stored = await image(flag(64, 32)).rotate(270).png().bytes();
  const upTo = async (chunks: number) => load(pngWithChunks(pngWithExif(stored, 6), "eXIf", chunks));
  expect(quarters(await upTo(9000))).toEqual(upright);
  expect(await refusal(upTo(10_000))).toMatch(/^be a whole image; got /);
});

test("a jpeg with too many scans is refused before it is decoded, whatever is between them", async () => {
  const many = jpegOfScans(4096, 4096, 100);
  const refused = "have at most 100 scans; got a JPEG file of more than 100 scans.";
  expect(await refusal(load(many))).toBe(refused);
  // A comment that contains the end marker of an image.
  const comment = Uint8Array.of(0xff, 0xfe, 0, 4, 0xff, 0xd9);
  const second = Buffer.from(many).indexOf(Uint8Array.of(0xff, 0xda), 300);
  const parted = Buffer.concat([many.subarray(0, second), comment, many.subarray(second)]);
  expect(await refusal(load(parted))).toBe(refused);
  const { width, height } = await load(jpegOfScans(64, 32, 99));
  expect([width, height]).toEqual([64, 32]);
  // After the end there may be anything: phones store videos there.
  const film = Buffer.concat([files["jpeg"] as Uint8Array, many]);
  expect(quarters(await load(film))).toEqual(upright);
});

test("a truncated file is refused, even where the decoder would invent the rest", async () => {
  for (const [name, bytes] of Object.entries({ ...files, gif: gif(red) })) {
    const lengths = [0.2, 0.5, 0.8].map((part) => Math.floor(bytes.length * part));
    for (const length of [...lengths, bytes.length - 3]) {
      const kind = name
        .split(" ")
        .at(name.startsWith("png") ? 0 : -1)
        ?.toUpperCase()
        .replace("WEBP", "WebP");
      const message = await refusal(load(bytes.subarray(0, length)));
      expect(message).toMatch(/^be (a whole image|an image that can be decoded); got /);
      expect(message).toContain(`${kind} file`);
    }
  }
});

test("data that is not an image is named by its kind", async () => {
  const got = async (text: string) => (await refusal(load(Buffer.from(text, "latin1")))).replace(/^.*; got /, "");
  expect(await refusal(load(Buffer.from("%PDF-1.7 ...")))).toBe(
    "be a PNG, JPEG, WebP, GIF or BMP image; got a PDF document.",
  );
  expect(await got("\0\0\0\x1cftypheic\0\0\0\0")).toBe("a HEIC image.");
  expect(await got("\0\0\0\x1cftypavif\0\0\0\0")).toBe("an AVIF image.");
  expect(await got('<?xml version="1.0"?><svg xmlns="x"/>')).toBe("an SVG image.");
  expect(await got("<!doctype html><html>")).toBe("an HTML page.");
  expect(await got("hello there")).toBe("text.");
  expect(await got("RIFF\x24\0\0\0WAVEfmt ")).toBe("WAV audio.");
  expect(await got("\x01\x02\x03")).toBe("data of an unknown type.");
  const narrow = flag(8, 8);
  narrow[28] = 16;
  expect(await got(Buffer.from(narrow).toString("latin1"))).toBe("a BMP of 16 bits a pixel.");
});

describe("a BMP with a palette", () => {
  const colors = [red, green, blue, yellow];
  const quarter = (x: number, y: number) => (y < 8 ? 0 : 2) + (x < 15 ? 0 : 1);
  const rows = (bits: 1 | 4 | 8, kind?: "usual" | "old" | "from the top") =>
    paletteBmp([30, 16], bits, colors, quarter, kind);

  test.each([
    ["8 bits", rows(8)],
    ["4 bits", rows(4)],
    ["rows from the top", rows(4, "from the top")],
    ["the oldest header", rows(8, "old")],
  ])("is decoded: %s", async (_, file) => {
    const media = await load(file);
    expect([media.width, media.height]).toEqual([30, 16]);
    expect(quarters(media)).toEqual(upright);
  });

  test("of one bit, as fax and scan programs write it, is decoded and scaled down", async () => {
    const file = paletteBmp([601, 100], 1, [white, red], (x) => (x < 300 ? 1 : 0));
    const { width, height, rgb } = await loadImage(dataUrl(file), limitsWith({}), "low");
    expect([width, height]).toEqual([512, 85]);
    expect([[...rgb.subarray(0, 3)], [...rgb.subarray(511 * 3, 512 * 3)]]).toEqual([[...red], [...white]]);
  });

  const changed = (at: number, value: number, bytes = 4) => {
    const file = rows(8);
    for (let index = 0; index < bytes; index++) file[at + index] = (value >>> (8 * index)) & 255;
    return file;
  };
  test.each([
    ["compressed rows", changed(30, 1), "a compressed BMP."],
    ["rows that are missing", rows(8).slice(0, -1), "a BMP file that is cut off."],
    ["rows behind the end", changed(10, 0xffffffff), "a BMP file that is cut off."],
    ["a size that no memory holds", changed(22, 0x7fffffff), /megapixels/],
    ["no width", changed(18, 0), "a BMP image of 0 × 16 pixels."],
  ])("is refused: %s", async (_, file, got) => {
    const message = await refusal(load(file));
    if (typeof got === "string") expect(message).toEndWith(`got ${got}`);
    else expect(message).toMatch(got);
  });

  test("without all its colours uses black for the missing ones", async () => {
    const file = changed(10, 54 + 4);
    const { rgb } = await load(file.slice(0, -12));
    expect([...new Set(rgb)].toSorted()).toEqual([0, 255]);
  });
});

test("an image waits for the memory that decoding needs, which is free again afterwards", async () => {
  const decoding = new Semaphore(64 * 32 * 11);
  const limits = limitsWith({ decoding });
  const held = Promise.withResolvers<void>();
  void decoding.run(1, new AbortController().signal, () => held.promise);
  let isLoaded = false;
  const loading = loadImage(dataUrl(flag(64, 32)), limits).then(() => (isLoaded = true));
  await loadImage(dataUrl(flag(32, 32)), limits);
  expect(isLoaded).toBe(false);
  held.resolve();
  await loading;
  await loadImage(dataUrl(flag(64, 32)), limits);
});
