// Audio is passed on unchanged when its format is one of sound, and it is not too large.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defaultMediaLimits } from "../../src/media/limits.ts";
import { loadMedia } from "../../src/media/load-media.ts";
import { audioParam, dataUrl, flag, limitsWith, loadAudio, refusal, riff, riffChunk } from "./files.ts";

const wav = (): Uint8Array<ArrayBuffer> =>
  riff("WAVE", riffChunk("fmt ", new Uint8Array(16)), riffChunk("data", new Uint8Array(32_000)));
/** The header of a frame of layer III and its data. */
const mp3 = (): Uint8Array => Buffer.concat([Uint8Array.of(0xff, 0xfb, 0x90, 0xc4), new Uint8Array(413)]);
const flac = (): Uint8Array => Buffer.concat([Buffer.from("fLaC"), new Uint8Array(100)]);
const id3 = (length: number): Uint8Array =>
  Buffer.concat([Buffer.from("ID3\x04\0\0\0\0"), Uint8Array.of(length >> 7, length & 127), new Uint8Array(length)]);

const message = (bytes: Uint8Array, limits = defaultMediaLimits) => refusal(loadAudio(bytes, limits), audioParam);

test("every sound format is recognized by its content and passed on unchanged", async () => {
  const long = Buffer.from(wav());
  long.write("RF64");
  const tagged = [mp3(), flac()].map((file) => Buffer.concat([id3(257), file]));
  const names = ["opus.ogg", "vorbis.mkv", "aac.m4a", "aac.mov", "tone.aac", "tone.aiff", "tone.caf"];
  const others = names.map((name) => readFileSync(join(import.meta.dir, "../audio/fixtures", name)));
  const foreign = [Buffer.from("#!AMR\n"), Buffer.from("RIFF\0\0\0\0AVI LIST"), Buffer.from(".snd\0\0\0\x18")];
  for (const bytes of [wav(), long, mp3(), flac(), ...tagged, ...others, ...foreign]) {
    const media = await loadAudio(bytes);
    expect(media).toEqual({ kind: "audio", bytes: new Uint8Array(bytes), id: media.id } as never);
    expect(media.id).toMatch(/^[0-9a-f]{64}$/);
  }
});

test("audio may be a data: URL with any media type", async () => {
  const source = { kind: "audio", data: dataUrl(wav(), "audio/mpeg"), format: "mp3" } as const;
  const media = await loadMedia(source, audioParam, defaultMediaLimits, new AbortController().signal);
  expect(media.id).toBe((await loadAudio(wav())).id);
});

test("data that is not audio, empty or too large is refused", async () => {
  expect(await message(new Uint8Array(0))).toBe("not be empty; got 0 bytes.");
  const rule = "be WAV, MP3, FLAC, Ogg, WebM, M4A/MP4, AAC, AIFF or CAF";
  expect(await message(await new Bun.Image(flag(8, 4)).png().bytes())).toBe(`${rule}; got a PNG image.`);
  expect(await message(Buffer.from("\0\0\0 ftypavif\0\0\0\0"))).toBe(`${rule}; got an AVIF image.`);
  expect(await message(Buffer.from("RIFF\0\0\0\0CDDAfmt "))).toBe(`${rule}; got data of an unknown type.`);
  expect(await message(wav(), limitsWith({ maxAudioBytes: 1000 }))).toBe("be at most 1000 bytes; got 32044 bytes.");
  const source = { kind: "audio", data: "secret !" } as const;
  const loading = loadMedia(source, audioParam, defaultMediaLimits, new AbortController().signal);
  expect(await refusal(loading, audioParam)).toBe("be base64; got a string of length 8 that is not.");
});
