// Damaged and hostile pictures for edits, and requests for images: each must be drawn or refused.

import { damaged } from "../fuzz/bytes.ts";
import { mutated, write } from "../fuzz/mutate.ts";
import { picture, pngFile } from "../models/media-files.ts";
import { dice, pick } from "../support/dice.ts";
import { transparentPng } from "../support/transparent-png.ts";
import { draw, edit, post, type Send } from "./engine-client.ts";
import { flood } from "./flood.ts";
import { hostilePictures, type Bytes } from "./hostile-pictures.ts";
import type { Options, Row } from "./row.ts";

const SIDE = 128;
/** Some valid requests take long. */
const DEADLINE = { "x-svc-deadline-ms": "5000" };

/** Bodies that must be refused, or drawn within the deadline. */
const BODIES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "10 images of 150 steps": { n: 10, steps: 150 },
  "a description as long as it may be": { prompt: "a red circle ".repeat(700).slice(0, 8000) },
  "a description of 8,000 opening brackets": { prompt: "(".repeat(8000) },
  "a description of 8,000 digits": { prompt: "1".repeat(8000) },
  "a description of blanks": { prompt: `a${" ".repeat(7998)}b` },
  "a description of weights that are no numbers": { prompt: "(a:...)".repeat(250) },
  "a description of weights without an end": { prompt: `${"(".repeat(7000)}a` },
  "a description of one word": { prompt: "etaoinshrdlu".repeat(660) },
  "a description of characters that are rare": {
    prompt: Array.from({ length: 4000 }, (_, n) => String.fromCodePoint(0x4e00 + ((n * 7919) % 20_000))).join(""),
  },
  "a description of 1 MB": { prompt: "a".repeat(1_000_000) },
  "a description of no word": { prompt: "\u0000\u200b " },
  "a description of the last characters there are": { prompt: "a \u{c714e}\u{10ffff}\ud800 ".repeat(100) },
  "a side of 2 billion pixels": { size: "2147483647x2147483647" },
  "a side below none": { size: "-128x128" },
  "a size in letters": { size: "axb" },
  "guidance without an end": { cfg_scale: 1e308 },
  "weights from elsewhere": { lora: [{ name: "../../../etc/passwd", scale: 1 }] },
  "a model from elsewhere": { model: "/etc/passwd" },
  "100,000 fields": Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`f${n}`, 1])),
};

export async function images({ count = 300, seed = 1 }: Options): Promise<Row[]> {
  const roll = dice(seed);
  const png = new Uint8Array(pngFile(picture(SIDE, SIDE)));
  const whole: readonly [Bytes, ...Bytes[]] = [
    png,
    new Uint8Array(await new Bun.Image(png).jpeg().bytes()),
    new Uint8Array(await new Bun.Image(png).webp().bytes()),
    transparentPng(SIDE, SIDE, 0),
  ];
  const [, jpeg] = whole;
  const mask = transparentPng(SIDE, SIDE, 0);
  const late =
    (send: Send): Send =>
    (url, signal) =>
      send(url, signal, DEADLINE);
  const places = ["image", "mask", "image[]"] as const;
  const placed = (name: string, bytes: Bytes, place: (typeof places)[number]) => {
    const parts = place === "image" ? { image: bytes } : { image: png, [place]: bytes };
    return [`${name}, as ${place}`, late(edit(parts))] as const;
  };
  const hostile = Object.entries(hostilePictures({ png, jpeg: jpeg ?? png }));
  const body = {
    prompt: "a red circle",
    size: "128x128",
    steps: 1,
    n: 1,
    seed: 7,
    output_format: "webp",
    stream: true,
  };
  const requests = [
    ...hostile.map(([name, bytes]) => placed(name, bytes, "image")),
    ...hostile.slice(0, 20).map(([name, bytes]) => placed(name, bytes, "mask")),
    ["a mask of all", late(edit({ image: png, mask }))] as const,
    ["no image", late(edit({ mask }))] as const,
    ...Object.entries(BODIES).map(([name, fields]) => [name, late(draw(fields))] as const),
    ...Array.from({ length: count }, (_, index) => {
      if (index % 4 === 3) {
        const text = write(mutated(body, [body], roll));
        return [`body ${index}: ${text.slice(0, 300)}`, late(post("/v1/images/generations", text))] as const;
      }
      const bytes = new Uint8Array(damaged(pick(roll, whole), roll));
      return placed(`damage ${index}`, bytes, pick(roll, places));
    }),
  ];
  return flood({
    promise: "An image is drawn or refused",
    what: "damaged and hostile images and image requests",
    kind: "image",
    requests,
    proper: [200, 400, 413, 422, 504],
    whole: draw({ steps: 1 }),
  });
}
