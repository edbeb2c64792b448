// Audio is passed on unchanged when its header is valid and it is not too long.

import { expect, test } from "bun:test";
import { defaultMediaLimits } from "../../src/media/limits.ts";
import { loadMedia } from "../../src/media/load-media.ts";
import { audioParam, dataUrl, flag, limitsWith, loadAudio, refusal, riff, riffChunk, u32 } from "./files.ts";

interface Wav {
  readonly coding?: number;
  readonly channels?: number;
  readonly rate?: number;
  readonly bits?: number;
  readonly frame?: number;
  readonly data?: Uint8Array;
}

function format({
  coding = 1,
  channels = 1,
  rate = 16_000,
  bits = 16,
  frame = (channels * bits) / 8,
}: Wav): Uint8Array {
  const view = new DataView(new ArrayBuffer(16));
  view.setUint16(0, coding, true);
  view.setUint16(2, channels, true);
  view.setUint32(4, rate, true);
  view.setUint32(8, rate * frame, true);
  view.setUint16(12, frame, true);
  view.setUint16(14, bits, true);
  return new Uint8Array(view.buffer);
}

const wav = (options: Wav = {}): Uint8Array<ArrayBuffer> =>
  riff("WAVE", riffChunk("fmt ", format(options)), riffChunk("data", options.data ?? new Uint8Array(32_000)));

/** MPEG 1 layer III at 128 kbit/s and 44.1 kHz: 417 bytes and 26 ms per frame. */
const mp3 = (frames: number): Uint8Array => {
  const frame = new Uint8Array(417);
  frame.set([0xff, 0xfb, 0x90, 0xc4]);
  return Buffer.concat(Array.from({ length: frames }, () => frame));
};
const id3 = (length: number): Uint8Array =>
  Buffer.concat([Buffer.from("ID3\x04\0\0\0\0"), Uint8Array.of(length >> 7, length & 127), new Uint8Array(length)]);

/** Frames of 4096 samples of silence at 44.1 kHz; `total` is the length in the header. */
function flac(frames: number, total = 0): Uint8Array {
  const info = new Uint8Array(34);
  const view = new DataView(info.buffer);
  view.setUint32(10, (44_100 << 12) | (15 << 4));
  view.setUint32(14, total);
  const frame = [0xff, 0xf8, 0xc9, 0x08, 0x00];
  const body = [...frame, crc8(frame), 0, 0, 0, 0, 0];
  const frameBytes = Uint8Array.from(body);
  return Buffer.concat([
    Buffer.from("fLaC"),
    u32(0x8000_0022),
    info,
    ...Array.from({ length: frames }, () => frameBytes),
  ]);
}

function crc8(bytes: readonly number[]): number {
  return bytes.reduce((crc, byte) => {
    let value = crc ^ byte;
    for (let bit = 0; bit < 8; bit++) value = value & 0x80 ? ((value << 1) ^ 7) & 0xff : value << 1;
    return value;
  }, 0);
}

const message = (bytes: Uint8Array, limits = defaultMediaLimits) => refusal(loadAudio(bytes, limits), audioParam);

test("wav, mp3 and flac are recognized by their content and passed on unchanged", async () => {
  for (const bytes of [wav(), mp3(10), flac(10)]) {
    const media = await loadAudio(bytes);
    expect(media).toEqual({ kind: "audio", bytes: new Uint8Array(bytes), id: media.id } as never);
    expect(media.id).toMatch(/^[0-9a-f]{64}$/);
  }
  expect((await loadAudio(Buffer.concat([id3(1000), mp3(2), Buffer.from("TAG".padEnd(128))]))).kind).toBe("audio");
});

test("audio may be a data: URL with any media type", async () => {
  const source = { kind: "audio", data: dataUrl(wav(), "audio/mpeg"), format: "mp3" } as const;
  const media = await loadMedia(source, audioParam, defaultMediaLimits, new AbortController().signal);
  expect(media.id).toBe((await loadAudio(wav())).id);
});

test("all codings of wav that the engine reads are accepted", async () => {
  const codings = [
    { coding: 1, bits: 8 },
    { coding: 1, bits: 24, channels: 2 },
    { coding: 3, bits: 32 },
    { coding: 6, bits: 8 },
    { coding: 7, bits: 8 },
  ];
  for (const coding of codings) expect((await loadAudio(wav(coding))).kind).toBe("audio");
  const guid = Buffer.concat([
    format({ coding: 0xfffe }),
    Uint8Array.of(22, 0, 16, 0, 4, 0, 0, 0, 1, 0),
    Buffer.alloc(14),
  ]);
  const extensible = riff(
    "WAVE",
    riffChunk("LIST", Buffer.from("odd")),
    riffChunk("fmt ", guid),
    riffChunk("data", Buffer.alloc(8)),
  );
  expect((await loadAudio(extensible)).kind).toBe("audio");
});

test("sizes that a recorder left open are filled in", async () => {
  for (const open of [0xffff_ffff, 0x7fff_ffff, 0]) {
    const bytes = wav();
    new DataView(bytes.buffer).setUint32(4, 0xffff_ffff, true);
    new DataView(bytes.buffer).setUint32(40, open, true);
    const media = await loadAudio(bytes);
    expect(media.kind === "audio" && [...media.bytes]).toEqual([...wav()]);
  }
});

test("an invalid wav is refused", async () => {
  expect(await message(wav({ coding: 2, bits: 4, frame: 256 }))).toBe(
    "be WAV of PCM, float, A-law or µ-law samples; got coding 2 of 4 bits.",
  );
  expect(await message(wav({ channels: 0 }))).toBe("have 1 to 16 channels; got 0.");
  expect(await message(wav({ rate: 0 }))).toBe("have 1000 to 384000 samples a second; got 0.");
  expect(await message(wav({ frame: 1 }))).toContain("got blocks of 1 bytes");
  expect(await message(wav({ data: new Uint8Array(1) }))).toBe("have sound in it; got a WAV file without samples.");
  expect(await message(riff("WAVE", riffChunk("fmt ", format({}))))).toContain("without a data chunk");
  expect(await message(riff("WAVE", riffChunk("data", new Uint8Array(8))))).toContain(
    "names its format before its data",
  );
  expect(await message(riff("WAVE", riffChunk("fmt ", new Uint8Array(4))))).toContain("a format chunk of 4 bytes");
  expect(await message(wav().subarray(0, 1000))).toBe("hold 32000 bytes of sound, as its header says; got 956 bytes.");
});

test("flac behind a tag of mp3 files is recognized", async () => {
  const tagged = Buffer.concat([id3(257), flac(120, 4096)]);
  expect(await message(tagged, limitsWith({ maxAudioSeconds: 10 }))).toBe(
    "play for at most 10 seconds; got 12 seconds.",
  );
});

test("mp3 and flac without sound are refused", async () => {
  expect(await message(id3(100))).toBe("be MP3 audio; got an MP3 tag or header without sound behind it.");
  expect(await message(Uint8Array.of(0xff, 0xfb, 0x90, 0xc4, 1, 2, 3))).toContain("without sound behind it");
  expect(await message(flac(0))).toBe("have sound in it; got a FLAC file without frames.");
  expect(await message(flac(1).subarray(0, 20))).toBe("be a whole FLAC file; got one without stream information.");
});

test("mp3 of a million tags and flac of a million metadata blocks are refused", async () => {
  expect(await message(Buffer.concat([Buffer.alloc(10_000_000, id3(0)), mp3(2)]))).toContain("without sound behind it");
  const file = flac(10);
  const [head, frames] = [file.subarray(0, 42), file.subarray(42)];
  head[4] = 0;
  const blocks = Buffer.alloc(4_000_000, Uint8Array.of(1, 0, 0, 0));
  expect(await message(Buffer.concat([head, blocks, Uint8Array.of(0x81, 0, 0, 0), frames]))).toContain(
    "without frames",
  );
});

test("audio that is too long is refused, even when its header hides the length", async () => {
  const limits = limitsWith({ maxAudioSeconds: 10 });
  expect(await message(wav({ data: new Uint8Array(32_000 * 11) }), limits)).toBe(
    "play for at most 10 seconds; got 11 seconds.",
  );
  expect(await message(mp3(400), limits)).toBe("play for at most 10 seconds; got 11 seconds.");
  expect(await message(flac(120, 4096), limits)).toBe("play for at most 10 seconds; got 12 seconds.");
  expect((await loadAudio(flac(100), limits)).kind).toBe("audio");
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
