// Audio is passed on unchanged when it is of a kind that the engine decodes, and not too large.

import { expect, test } from "bun:test";
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

test("wav, mp3 and flac are recognized by their content and passed on unchanged", async () => {
  const long = Buffer.from(wav());
  long.write("RF64");
  const tagged = [mp3(), flac()].map((file) => Buffer.concat([id3(257), file]));
  for (const bytes of [wav(), long, mp3(), flac(), ...tagged]) {
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
  expect(await message(await new Bun.Image(flag(8, 4)).png().bytes())).toBe(
    "be WAV, MP3 or FLAC audio; got a PNG image.",
  );
  expect(await message(Buffer.from("OggS\0\x02"))).toBe("be WAV, MP3 or FLAC audio; got Ogg audio.");
  expect(await message(wav(), limitsWith({ maxAudioBytes: 1000 }))).toBe("be at most 1000 bytes; got 32044 bytes.");
  const source = { kind: "audio", data: "secret !" } as const;
  const loading = loadMedia(source, audioParam, defaultMediaLimits, new AbortController().signal);
  expect(await refusal(loading, audioParam)).toBe("be base64; got a string of length 8 that is not.");
});
