// Image and audio files built by hand for features that encoders do not write, and helpers for their results.

import { expect } from "bun:test";
import { SvcError } from "../../src/domain/errors.ts";
import type { ImageMedia, Media } from "../../src/domain/media.ts";
import { defaultMediaLimits, type MediaLimits } from "../../src/media/limits.ts";
import { loadMedia } from "../../src/media/load-media.ts";
import { pngChunk, pngOfChunks } from "../support/png.ts";

export type Rgb = readonly [number, number, number];

export const red: Rgb = [255, 0, 0];
export const green: Rgb = [0, 255, 0];
export const blue: Rgb = [0, 0, 255];
export const yellow: Rgb = [255, 255, 0];
export const white: Rgb = [255, 255, 255];

export const imageParam = "messages.0.content.1.image_url.url";
export const audioParam = "messages.0.content.1.input_audio.data";
const never = new AbortController().signal;

export const dataUrl = (bytes: Uint8Array, type = "image/png"): string =>
  `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;

export const limitsWith = (changes: Partial<MediaLimits>): MediaLimits => ({ ...defaultMediaLimits, ...changes });

/** Loads an image; throws when the result is not one. */
export async function loadImage(
  url: string,
  limits = defaultMediaLimits,
  detail: "auto" | "low" | "high" = "auto",
  signal = never,
): Promise<ImageMedia> {
  const media = await loadMedia({ kind: "image", url, detail }, imageParam, limits, signal);
  if (media.kind !== "image") throw new Error("not an image");
  expect(media.rgb.length).toBe(media.width * media.height * 3);
  return media;
}

export const loadAudio = (bytes: Uint8Array, limits = defaultMediaLimits): Promise<Media> =>
  loadMedia({ kind: "audio", data: Buffer.from(bytes).toString("base64") }, audioParam, limits, never);

/** Returns the message of the expected refusal, without the field at its start. */
export async function refusal(loading: Promise<unknown>, param = imageParam): Promise<string> {
  const error = await loading.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof SvcError)) throw new Error(`not refused: ${String(error)}`);
  expect(error.code).toBe("invalid_value");
  expect(error.details.param).toBe(param);
  expect(error.message).toStartWith(`'${param}' must `);
  return error.message.slice(`'${param}' must `.length);
}

/**
 * Returns the colour in the middle of each quarter: top left, top right, bottom left, bottom right. Similar colours
 * are made equal.
 */
export function quarters({ width, height, rgb }: ImageMedia): Rgb[] {
  const at = (x: number, y: number): Rgb => {
    const start = (Math.floor(height * y) * width + Math.floor(width * x)) * 3;
    const [r = 0, g = 0, b = 0] = rgb.subarray(start, start + 3);
    return [nearly(r), nearly(g), nearly(b)];
  };
  return [at(0.25, 0.25), at(0.75, 0.25), at(0.25, 0.75), at(0.75, 0.75)];
}

const nearly = (value: number): number => (value < 8 ? 0 : value > 247 ? 255 : value);

/** Returns red, green, blue and yellow quarters, which show rotation and mirroring. */
export const flag = (width: number, height: number): Uint8Array<ArrayBuffer> =>
  bmp(width, height, (x, y) => (y < height / 2 ? (x < width / 2 ? red : green) : x < width / 2 ? blue : yellow));

/** Returns a BMP with 24 bits per pixel. */
export function bmp(width: number, height: number, color: (x: number, y: number) => Rgb): Uint8Array<ArrayBuffer> {
  const stride = (width * 3 + 3) & ~3;
  const file = new Uint8Array(54 + stride * height);
  const view = new DataView(file.buffer);
  file.set([0x42, 0x4d]);
  view.setUint32(2, file.length, true);
  view.setUint32(10, 54, true);
  view.setUint32(14, 40, true);
  view.setInt32(18, width, true);
  view.setInt32(22, height, true);
  view.setUint16(26, 1, true);
  view.setUint16(28, 24, true);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      file.set(color(x, y).toReversed(), 54 + (height - 1 - y) * stride + x * 3);
    }
  }
  return file;
}

/** Returns a BMP with 1, 4 or 8 bits per pixel and these colours; `color` returns the index for a pixel. */
export function paletteBmp(
  [width, height]: readonly [number, number],
  bits: 1 | 4 | 8,
  colors: readonly Rgb[],
  color: (x: number, y: number) => number,
  kind: "usual" | "old" | "from the top" = "usual",
): Uint8Array<ArrayBuffer> {
  const rowBytes = Math.ceil((width * bits) / 32) * 4;
  const head = kind === "old" ? 12 : 40;
  const entry = kind === "old" ? 3 : 4;
  const from = 14 + head + colors.length * entry;
  const file = new Uint8Array(from + rowBytes * height);
  const view = new DataView(file.buffer);
  file.set(ascii("BM"));
  view.setUint32(10, from, true);
  view.setUint32(14, head, true);
  if (kind === "old") [width, height, 1, bits].forEach((value, at) => view.setUint16(18 + at * 2, value, true));
  else {
    view.setInt32(18, width, true);
    view.setInt32(22, kind === "from the top" ? -height : height, true);
    view.setUint16(26, 1, true);
    view.setUint16(28, bits, true);
    view.setUint32(46, colors.length, true);
  }
  colors.forEach((one, at) => file.set(one.toReversed(), 14 + head + at * entry));
  for (let y = 0; y < height; y++) {
    const row = from + (kind === "from the top" ? y : height - 1 - y) * rowBytes;
    for (let x = 0; x < width; x++) {
      const bit = x * bits;
      const at = row + (bit >>> 3);
      file[at] = (file[at] ?? 0) | (color(x, y) << (8 - bits - (bit & 7)));
    }
  }
  return file;
}

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);
const join = (...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.concat(parts));

function u32(value: number, little = false): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, little);
  return bytes;
}

/** Returns a TIFF block, in either byte order, whose only entry is the orientation. */
function exif(orientation: number, little: boolean): Uint8Array {
  const block = new Uint8Array(26);
  const view = new DataView(block.buffer);
  block.set(ascii(little ? "II" : "MM"));
  view.setUint16(2, 42, little);
  view.setUint32(4, 8, little);
  view.setUint16(8, 1, little);
  view.setUint16(10, 0x0112, little);
  view.setUint16(12, 3, little);
  view.setUint32(14, 1, little);
  view.setUint16(18, orientation, little);
  return block;
}

/** Returns the JPEG with an APP1 segment after its first marker. */
export function jpegWithExif(jpeg: Uint8Array, orientation: number, little = true): Uint8Array {
  const block = join(ascii("Exif\0\0"), exif(orientation, little));
  const length = block.length + 2;
  return join(jpeg.subarray(0, 2), Uint8Array.of(0xff, 0xe1, length >> 8, length & 255), block, jpeg.subarray(2));
}

/** Returns the PNG with an eXIf chunk after its header. */
export function pngWithExif(png: Uint8Array, orientation: number): Uint8Array {
  return join(png.subarray(0, 33), pngChunk("eXIf", exif(orientation, false)), png.subarray(33));
}

/** Returns the PNG with this many empty chunks before its end. */
export function pngWithChunks(png: Uint8Array, type: string, count: number): Uint8Array {
  const chunk = pngChunk(type, new Uint8Array(0));
  return join(png.subarray(0, -12), ...Array.from({ length: count }, () => chunk), png.subarray(-12));
}

/** Returns the PNG, which has a palette, with this opacity (0 to 255) for one of its colours. */
export function pngWithTransparency(png: Uint8Array, color: Rgb, alpha: number): Uint8Array {
  const file = Buffer.from(png);
  const palette = file.indexOf("PLTE") + 4;
  const entries = file.readUInt32BE(palette - 8) / 3;
  const alphas = Uint8Array.from({ length: entries }, (_, index) => {
    const start = palette + index * 3;
    return file.subarray(start, start + 3).equals(Uint8Array.from(color)) ? alpha : 255;
  });
  const end = palette + entries * 3 + 4;
  return join(file.subarray(0, end), pngChunk("tRNS", alphas), file.subarray(file.indexOf("IDAT") - 4));
}

/** Returns only the header of a PNG, for any size. */
export const pngHeader = (width: number, height: number, alpha = false): Uint8Array<ArrayBuffer> =>
  pngOfChunks({ width, height, colour: alpha ? 6 : 2 });

export function riff(type: string, ...chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const body = join(ascii(type), ...chunks);
  return join(ascii("RIFF"), u32(body.length, true), body);
}

export function riffChunk(type: string, data: Uint8Array): Uint8Array {
  return join(ascii(type), u32(data.length, true), data, new Uint8Array(data.length & 1));
}

/** Returns an animated WebP of pictures of this size, made from still ones. */
export function animatedWebp(width: number, height: number, pictures: readonly Uint8Array[]): Uint8Array {
  const size = Uint8Array.of(width - 1, 0, 0, height - 1, 0, 0);
  const frames = pictures.map((webp) =>
    riffChunk("ANMF", join(new Uint8Array(6), size, new Uint8Array(4), webp.subarray(12))),
  );
  const head = riffChunk("VP8X", join(Uint8Array.of(0x02, 0, 0, 0), size));
  return riff("WEBP", head, riffChunk("ANIM", new Uint8Array(6)), ...frames);
}

/** Returns a GIF of frames in one colour each, 4 × 2 pixels. */
export function gif(...colors: readonly Rgb[]): Uint8Array {
  const table = Uint8Array.from({ length: 4 }, (_, index) => index).reduce<number[]>(
    (all, index) => [...all, ...(colors[index] ?? white)],
    [],
  );
  const frames = colors.map((_, color) => join(Uint8Array.of(0x2c, 0, 0, 0, 0, 4, 0, 2, 0, 0, 2), lzw(color)));
  return join(ascii("GIF89a"), Uint8Array.of(4, 0, 2, 0, 0x81, 0, 0), Uint8Array.from(table), ...frames, ascii(";"));
}

/**
 * Encodes eight pixels of one colour; the dictionary is cleared before each pair, so that every code has three bits.
 */
function lzw(color: number): Uint8Array {
  const codes = [...Array.from({ length: 4 }, () => [4, color, color]).flat(), 5];
  const bits = codes
    .map((code) => code.toString(2).padStart(3, "0"))
    .toReversed()
    .join("");
  const value = BigInt(`0b${bits}`);
  const data = Uint8Array.from({ length: Math.ceil(bits.length / 8) }, (_, i) =>
    Number((value >> BigInt(i * 8)) & 255n),
  );
  return join(Uint8Array.of(data.length), data, Uint8Array.of(0));
}
