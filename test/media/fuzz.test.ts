// Damaged files, the same ones every time: each is decoded or refused, and none does anything else.

import { expect, test } from "bun:test";
import { SvcError } from "../../src/domain/errors.ts";
import { defaultMediaLimits, type MediaLimits } from "../../src/media/limits.ts";
import { loadMedia } from "../../src/media/load-media.ts";
import { dice } from "../support/dice.ts";
import { animatedWebp, blue, dataUrl, flag, gif, jpegWithExif, pngWithExif, red, riff, riffChunk } from "./files.ts";

const picture = new Bun.Image(flag(60, 40));
const jpeg = await picture.jpeg().bytes();
const lossless = await picture.webp({ lossless: true }).bytes();
const sound = Uint8Array.of(1, 0, 1, 0, 0x80, 0x3e, 0, 0, 0, 0x7d, 0, 0, 2, 0, 16, 0);
const frame = new Uint8Array(417);
frame.set([0xff, 0xfb, 0x90, 0xc4]);

const images = [
  jpegWithExif(jpeg, 6),
  await picture.jpeg({ progressive: true }).bytes(),
  pngWithExif(await picture.png().bytes(), 5),
  await picture.png({ palette: true }).bytes(),
  await picture.webp().bytes(),
  lossless,
  animatedWebp(60, 40, [lossless, lossless]),
  gif(red, blue),
  flag(60, 40),
];
const sounds = [
  riff("WAVE", riffChunk("fmt ", sound), riffChunk("data", new Uint8Array(500))),
  Buffer.concat([frame, frame, frame]),
  Buffer.concat([Buffer.from("fLaC\x80\0\0\x22"), new Uint8Array(34).fill(0x1f), frame]),
];

/** Cut off, with some bytes changed (most of them near the front), or with a piece in the wrong place. */
function damaged(file: Uint8Array, roll: (below: number) => number): Uint8Array {
  const bytes = Uint8Array.from(file);
  const kind = roll(4);
  if (kind === 0) return bytes.subarray(0, roll(bytes.length));
  for (let changes = 1 + roll(6); changes > 0; changes--) {
    bytes[roll(kind === 1 ? Math.min(64, bytes.length) : bytes.length)] = roll(3) === 0 ? 0xff : roll(256);
  }
  if (kind === 3) bytes.copyWithin(roll(bytes.length), roll(bytes.length), roll(bytes.length));
  return bytes;
}

async function outcome(file: Uint8Array, audio: boolean, limits: MediaLimits): Promise<string> {
  const source = audio
    ? ({ kind: "audio", data: Buffer.from(file).toString("base64") } as const)
    : ({ kind: "image", url: dataUrl(file), detail: "low" } as const);
  try {
    const media = await loadMedia(source, "field", limits, new AbortController().signal);
    if (media.kind === "image") expect(media.rgb.length).toBe(media.width * media.height * 3);
    return "decoded";
  } catch (error) {
    if (error instanceof SvcError && error.code === "invalid_value" && error.details.param === "field")
      return "refused";
    throw error;
  }
}

for (const [name, files] of Object.entries({ images, sounds })) {
  test(`300 damaged ${name} are decoded or refused`, async () => {
    const roll = dice(20_240_601);
    const limits = { ...defaultMediaLimits, maxPixels: 4_000_000 };
    const seen = { decoded: 0, refused: 0 };
    for (let round = 0; round < 300; round++) {
      const file = files[round % files.length] as Uint8Array;
      const how = await outcome(damaged(file, roll), name === "sounds", limits);
      seen[how as keyof typeof seen]++;
    }
    expect(seen.decoded).toBeGreaterThan(10);
    expect(seen.refused).toBeGreaterThan(10);
  }, 60_000);
}
