// Malicious or damaged sound files: all of them are refused or played, within a short time.

import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { SAMPLE_RATE } from "../../../src/audio/decode/sound-tools.ts";
import { damaged } from "../../fuzz/bytes.ts";
import { dice } from "../../support/dice.ts";
import { box, wav } from "../sounds.ts";
import { fixture, fixtures, isBuilt, soundRig } from "./rig.ts";

/** Time limit for each file; a busy machine takes ten times as long as an idle one. */
const PATIENCE_MS = 30_000;
const MUTATIONS = Number(process.env["FUZZ_CASES"] ?? 20);
const rig = soundRig();
const all = readdirSync(fixtures).filter((name) => !name.endsWith(".ts"));

const words = (...numbers: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(numbers.length * 4);
  numbers.forEach((number, index) => bytes.writeUInt32BE(number >>> 0, index * 4));
  return bytes;
};

/** Returns the file with other bytes in its box of that name. */
function withBytes(file: Uint8Array, name: string, offset: number, bytes: Uint8Array): Uint8Array {
  const copy = Buffer.from(file);
  copy.set(bytes, copy.indexOf(name, 0, "latin1") + name.length + offset);
  return copy;
}

/**
 * Returns the fixture repeated this often: frames of these formats are independent, except for one that would contain
 * their number.
 */
async function repeated(name: string, times: number): Promise<Uint8Array> {
  const text = Buffer.from(await Bun.file(fixture(name)).bytes())
    .toString("latin1")
    .replace(/Xing|Info/, "\0\0\0\0");
  const bytes = Buffer.from(text, "latin1");
  return Buffer.concat(Array.from({ length: times }, () => bytes));
}

describe.skipIf(!isBuilt)("refused with the reason is", () => {
  const files: Readonly<Record<string, () => readonly [Uint8Array | Promise<Uint8Array>, string]>> = {
    "an empty file": () => [new Uint8Array(0), "got 0 bytes"],
    "something else": () => [Buffer.from("%PDF-1.7 and so on"), "'file' must be WAV, MP3, FLAC"],
    "a playlist": () => [Buffer.from("#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"), "'file' must be WAV"],
    "a WAV file without sound": () => [wav({ seconds: 0 }), "WAV without samples"],
    "a WAV file of one sample a second": () => [wav({ seconds: 9, rate: 1 }), "1000 to 384000 samples a second; got 1"],
    "a WAV file of 300 kHz and more": () => [wav({ seconds: 0.001, rate: 4_000_000 }), "got WAV: "],
    "a WAV file of 32 channels": () => [wav({ seconds: 0.1, channels: 32 }), "1 to 16 channels; got 32"],
    "a WAV file of chunks only": () => [
      Buffer.concat([wav({ seconds: 0 }).subarray(0, 36), Buffer.alloc(1 << 20)]),
      "got WAV: ",
    ],
    "an MP3 tag with nothing behind it": () => [
      Buffer.from("ID3\x04\0\0\0\0\0\0".padEnd(40, "\0"), "latin1"),
      "got MP3",
    ],
    "a FLAC file without frames": () => [Buffer.from("fLaC".padEnd(60, "\0"), "latin1"), "got FLAC: "],
    "an Ogg page without a recording": () => [Buffer.from("OggS".padEnd(60, "\0"), "latin1"), "got Ogg: "],
    "an MP4 file without a track": () => [
      Buffer.concat([box("ftyp", Buffer.from("isom")), box("moov")]),
      "got an MP4 file: ",
    ],
    "boxes in boxes in boxes": () => {
      let nested = box("free");
      for (let depth = 0; depth < 5000; depth++) nested = box("moov", nested);
      return [Buffer.concat([box("ftyp", Buffer.from("isom")), nested]), "got an MP4 file: "];
    },
    "a WebM file that ends behind its first word": () => [Buffer.from("1a45dfa3", "hex"), "got a WebM file: "],
  };

  test.each(Object.keys(files))("%s", async (name) => {
    const [bytes, reason] = files[name]?.() ?? [new Uint8Array(), ""];
    expect(await rig.refusal(await rig.keep(await bytes))).toContain(reason);
  });

  test("an MP4 file of four thousand million samples without data for any", async () => {
    const whole = await Bun.file(fixture("aac.m4a")).bytes();
    const table = withBytes(whole, "stsz", 4, words(0, 0xffff_ffff));
    expect(await rig.refusal(await rig.keep(table))).toContain("got an MP4 file: ");
  });

  test("an MP4 file of as many samples without a byte", async () => {
    const whole = await Bun.file(fixture("aac.m4a")).bytes();
    const steps = withBytes(withBytes(whole, "stsz", 4, words(1, 0xffff_ffff)), "stts", 8, words(0xffff_ffff, 1));
    expect(await rig.refusal(await rig.keep(steps))).toContain("got an MP4 file: ");
  });
});

describe.skipIf(!isBuilt)("whatever length a file claims", () => {
  test("a FLAC file behind a tag of MP3 files is decoded", async () => {
    const tag = Buffer.concat([Buffer.from("ID3\x03\0\0\0\0\x02\x01", "latin1"), Buffer.alloc(257)]);
    const tagged = Buffer.concat([tag, await Bun.file(fixture("tone.flac")).bytes()]);
    expect((await rig.decode(await rig.keep(tagged))).length).toBe(2 * SAMPLE_RATE);
  });

  test("the data that exists is played", async () => {
    const hours = wav({ seconds: 1, dataBytes: 8 * 3600 * 32_000 });
    expect((await rig.decode(await rig.keep(hours))).length).toBe(SAMPLE_RATE);
    const flac = await Bun.file(fixture("tone.flac")).bytes();
    // The lower 36 bits of this word and the next are the number of samples.
    flac.set([0xff, 0xff, 0xff, 0xff], 22);
    expect((await rig.decode(await rig.keep(flac))).length).toBe(2 * SAMPLE_RATE);
  });

  test("it is refused when it plays longer than the limit", async () => {
    for (const name of ["tone.mp3", "opus.webm", "aac.m4a", "tone.flac"]) {
      expect(await rig.refusal(fixture(name), { maxSeconds: 1.5, field: "sound" })).toBe(
        "'sound' must play for at most 0.025 minutes (--max-audio-minutes); got a longer sound.",
      );
    }
    expect(await rig.refusal(await rig.keep(wav({ seconds: 30 })), { maxSeconds: 30 })).toBeUndefined();
    expect(await rig.refusal(await rig.keep(wav({ seconds: 31 })), { maxSeconds: 30 })).toContain(
      "at most 0.5 minutes",
    );
  });

  // Transcription has then processed only the first minute, not hours of sound for nothing.
  test.each([
    ["WAV", () => wav({ seconds: 80, rate: 4000, bits: 8 })],
    ["MP3", () => repeated("tone.mp3", 40)],
    ["AAC", () => repeated("tone.aac", 40)],
  ])("%s that is too long is refused after a minute of it has been read", async (_, make) => {
    const path = await rig.keep(await make());
    let samples = 0;
    const onWindow = (window: Float32Array) => (samples += window.length);
    expect(await rig.refusal(path, { maxSeconds: 72, onWindow })).toContain(
      "at most 1.2 minutes (--max-audio-minutes)",
    );
    expect(samples / SAMPLE_RATE).toBeWithin(50, 61);
  });

  test("a file just below the limit is played once", async () => {
    const path = await rig.keep(wav({ seconds: 80, rate: 4000, bits: 8 }));
    expect((await rig.decode(path, { maxSeconds: 81 })).length / SAMPLE_RATE).toBeCloseTo(80, 1);
  });

  test("decoding ends with the request", async () => {
    const path = await rig.keep(wav({ seconds: 50 }));
    const ended = new AbortController();
    const decoding = rig.decode(path, { signal: ended.signal });
    ended.abort(new Error("the client has left"));
    await expect(decoding).rejects.toThrow("the client has left");
  });
});

describe.skipIf(!isBuilt)("after any damage", () => {
  test.each(all)(
    `%s is refused or played, in ${MUTATIONS} ways`,
    async (name) => {
      const whole = await Bun.file(join(fixtures, name)).bytes();
      const roll = dice(whole.length);
      let played = 0;
      for (let round = 0; round < MUTATIONS; round++) {
        const path = await rig.keep(damaged(whole, roll), "damaged.bin");
        if ((await rig.refusal(path)) === undefined) played++;
      }
      // Small damage may have no effect, or is in a part that decoders ignore; Ogg pages have a checksum.
      if (!["ac3.mp4", "tone.mp2", "vorbis.ogg"].includes(name)) expect(played).toBeGreaterThan(0);
    },
    PATIENCE_MS,
  );
});
