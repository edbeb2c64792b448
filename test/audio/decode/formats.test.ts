// Every format plays with the right length and pitch.

import { describe, expect, test } from "bun:test";
import { SAMPLE_RATE } from "../../../src/audio/decode/sound-tools.ts";
import { frequency, TONE, wav, type WavShape } from "../sounds.ts";
import { expectTone, fixture, isBuilt, soundRig } from "./rig.ts";

const rig = soundRig();

const shapes: Readonly<Record<string, Omit<WavShape, "seconds">>> = {
  "16 bit": {},
  "8 bit, 8 kHz": { bits: 8, rate: 8000 },
  "24 bit, 48 kHz, stereo": { bits: 24, rate: 48_000, channels: 2 },
  "32 bit, 44.1 kHz": { bits: 32, rate: 44_100 },
  "float, 96 kHz": { coding: "float", rate: 96_000 },
  "double, 22.05 kHz, 6 channels": { coding: "float", bits: 64, rate: 22_050, channels: 6 },
  "µ-law, 8 kHz": { coding: "mu-law", rate: 8000 },
  "A-law, 8 kHz": { coding: "a-law", rate: 8000 },
  "the longer header, 24 bit": { extensible: true, bits: 24, rate: 48_000 },
  "the longer header, float, stereo": { extensible: true, coding: "float", channels: 2 },
  "a length left open": { dataBytes: 0 },
  "lengths of 64 bits": { long: true },
  "lengths of 64 bits, left open": { long: true, dataBytes: 0 },
  "lengths of 64 bits, float, stereo": { long: true, extensible: true, coding: "float", channels: 2 },
};

describe.skipIf(!isBuilt)("a WAV file", () => {
  test.each(Object.entries(shapes))("with %s plays", async (_name, shape) => {
    const path = await rig.keep(wav({ seconds: 1, ...shape }));
    expectTone(await rig.decode(path), 1);
  });

  test("of many windows is complete and in order", async () => {
    const samples = await rig.decode(await rig.keep(wav({ seconds: 20 })));
    expect(samples.length).toBe(20 * SAMPLE_RATE);
    const shift = 15 * SAMPLE_RATE;
    expect(samples[shift + 9]).toBeCloseTo(0.5 * Math.sin((2 * Math.PI * TONE * (shift + 9)) / SAMPLE_RATE), 3);
  });

  test("of floats plays values that are not sound as silence or full scale", async () => {
    const file = wav({ seconds: 0.1, coding: "float" });
    new DataView(file.buffer, file.byteOffset).setFloat32(44, Number.NaN, true);
    new DataView(file.buffer, file.byteOffset).setFloat32(48, -1e30, true);
    expect([...(await rig.decode(await rig.keep(file))).subarray(0, 2)]).toEqual([0, -1]);
  });
});

const files = [
  "tone.mp3",
  "tone.flac",
  "opus.ogg",
  "stereo-opus.ogg",
  "vorbis.ogg",
  "opus.webm",
  "opus-live.webm",
  "vorbis.mkv",
  "aac.m4a",
  "stereo-aac.m4a",
  "aac-live.mp4",
  "opus.mp4",
  "mp3.mp4",
  "alac.m4a",
  "aac.mov",
  "tone.aac",
  "tone.aiff",
  "mu-law.aifc",
  "tone.caf",
  "video.mp4",
  "video.webm",
];

/** Files whose table of contents is at their end, or whose only page is then incomplete. */
const lostWhenCut = ["aac.m4a", "opus.mp4", "mp3.mp4", "alac.m4a", "aac.mov", "vorbis.ogg", "tone.caf", "video.mp4"];

/** Returns the WebM fixture, a recording in parts, with its last part this many seconds later. */
async function withGap(seconds: number): Promise<Uint8Array> {
  const file = Buffer.from(await Bun.file(fixture("opus-live.webm")).bytes());
  // The time of a cluster: 0xe7, its length of two bytes, milliseconds.
  const at = file.lastIndexOf(Buffer.from("e782", "hex")) + 2;
  file.writeUInt16BE(file.readUInt16BE(at) + seconds * 1000, at);
  return file;
}

/** Returns the WebM fixture with every packet at twice its time, as if each second one had been lost. */
async function withLosses(): Promise<Uint8Array> {
  const text = Buffer.from(await Bun.file(fixture("opus-live.webm")).bytes()).toString("latin1");
  const doubled = (_: string, head: string, time: string) => {
    const bytes = Buffer.from(time, "latin1");
    bytes.writeUInt16BE(2 * bytes.readUInt16BE());
    return head + bytes.toString("latin1");
  };
  // The times of clusters and, after a block's length and track, of blocks.
  return Buffer.from(text.replace(/(\xe7\x82|\xa3[\x80-\xff]\x81)(..)/gs, doubled), "latin1");
}

/** Returns the WebM fixture with this many packets without content before its last part. */
async function withEmptyPackets(count: number): Promise<Uint8Array> {
  const file = Buffer.from(await Bun.file(fixture("opus-live.webm")).bytes());
  const packets = Buffer.alloc(6 * count, Buffer.from("a38481000080", "hex"));
  const at = file.lastIndexOf(Buffer.from("1f43b675", "hex"));
  const head = Buffer.from("1f43b67501000000", "hex");
  const time = Buffer.from("e78207bc", "hex");
  const size = Buffer.alloc(4);
  size.writeUInt32BE(time.length + packets.length);
  return Buffer.concat([file.subarray(0, at), head, size, time, packets, file.subarray(at)]);
}

describe.skipIf(!isBuilt)("a file of another program", () => {
  test.each(files)("%s plays", async (name) => expectTone(await rig.decode(fixture(name)), 2));

  test.each(files.filter((name) => !/mp3$|flac$/.test(name)))("%s plays as well from memory", async (name) => {
    const samples = await rig.decode(await Bun.file(fixture(name)).bytes());
    expect(samples).toEqual(await rig.decode(fixture(name)));
  });

  test.each(files)("%s plays up to the end when it is truncated", async (name) => {
    const whole = await Bun.file(fixture(name)).bytes();
    const cut = await rig.keep(whole.subarray(0, Math.floor(whole.length * 0.8)));
    if (lostWhenCut.includes(name)) {
      expect(await rig.refusal(cut)).toContain("'file' must be WAV, MP3");
      return;
    }
    const samples = await rig.decode(cut);
    expect(samples.length / SAMPLE_RATE).toBeWithin(0.7, 1.8);
    expect(frequency(samples)).toBeWithin(TONE * 0.98, TONE * 1.02);
  });

  test("after a tag is found", async () => {
    const tag = new Uint8Array(10 + 300);
    tag.set([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 2, 44]);
    for (const name of ["tone.mp3", "tone.aac"]) {
      const path = await rig.keep(Buffer.concat([tag, await Bun.file(fixture(name)).bytes()]));
      expectTone(await rig.decode(path), 2);
    }
  });

  test("with a gap in its times has silence there", async () => {
    const samples = await rig.decode(await rig.keep(await withGap(5)));
    expect(samples.length / SAMPLE_RATE).toBeWithin(6.95, 7.05);
    expect(samples.filter((sample) => sample === 0).length / SAMPLE_RATE).toBeWithin(4.9, 5.1);
    const end = samples.findLastIndex((_, at) => samples.subarray(at, at + 1000).every((sample) => sample === 0));
    expect(end / SAMPLE_RATE).toBeGreaterThan(6.8);
  });

  test("with many short gaps keeps its times", async () => {
    const samples = await rig.decode(await rig.keep(await withLosses()));
    expect(samples.length / SAMPLE_RATE).toBeWithin(3.85, 4.05);
  });

  test("plays on after very many packets without sound, as of a picture", async () => {
    const samples = await rig.decode(await rig.keep(await withEmptyPackets(120_000)));
    expect(samples.length).toBe((await rig.decode(fixture("opus-live.webm"))).length);
  });

  test("that is too long only by a gap is refused", async () => {
    const path = await rig.keep(await withGap(62));
    expect(await rig.refusal(path)).toContain("at most 1 minutes (--max-audio-minutes)");
  });
});
