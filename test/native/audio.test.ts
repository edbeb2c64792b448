// The audio library: sound files read block by block through miniaudio, and the sample rate converter.

import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AudioError, SAMPLE_RATE, type NativeAudio } from "../../ffi/audio/api.ts";
import { openAudio } from "../../ffi/audio/binding.ts";
import { fileName } from "../../ffi/runtime/native-files.ts";
import { frequency, wav } from "../audio/sounds.ts";
import { sharedFolder } from "../support/folders.ts";

const libraries = process.env["SVC_LIBRARIES"] ?? join(import.meta.dir, "../../vendor/.build/lib/current");
const isBuilt = existsSync(join(libraries, fileName("audio")));
const folder = sharedFolder();

describe.skipIf(!isBuilt)("the audio library", () => {
  let audio: NativeAudio;
  beforeAll(() => {
    audio = openAudio(libraries);
  });

  const written = (file: Uint8Array): string => {
    const path = join(folder, "a tone – ä.wav");
    writeFileSync(path, file);
    return path;
  };

  /** Returns all samples, read in blocks of `block`. */
  const decode = (path: string, block = 4096): Float32Array => {
    const sound = audio.open(path);
    const parts: number[] = [];
    const out = new Float32Array(block);
    for (;;) {
      const length = sound.read(out);
      if (length === 0) break;
      parts.push(...out.subarray(0, length));
    }
    sound.close();
    return Float32Array.from(parts);
  };

  test("a file yields the same samples in blocks of any size", () => {
    const path = written(wav({ seconds: 0.5, rate: 44_100, channels: 2 }));
    const samples = decode(path);
    expect(samples.length).toBeWithin(0.49 * SAMPLE_RATE, 0.51 * SAMPLE_RATE);
    expect(frequency(samples)).toBeWithin(437, 443);
    expect(decode(path, 1000)).toEqual(samples);
    expect(decode(path, 1 << 16)).toEqual(samples);
  });

  test("the length that a file declares is reported, unless it exceeds the file", () => {
    const path = written(wav({ seconds: 0.25, rate: 8000, channels: 1, dataBytes: 8 * 3600 * 16_000 }));
    const sound = audio.open(path);
    expect(sound.declaredFrames).toBe(0.25 * SAMPLE_RATE);
    sound.close();
    expect(decode(path).length).toBeWithin(0.24 * SAMPLE_RATE, 0.26 * SAMPLE_RATE);
  });

  test("a recording of unknown length is read to its end", () => {
    for (const long of [false, true]) {
      for (const dataBytes of [0, 0x7fff_ffff, 0xffff_ffff]) {
        const path = written(wav({ seconds: 0.5, rate: 16_000, long, dataBytes }));
        const sound = audio.open(path);
        expect(sound.declaredFrames).toBe(0.5 * SAMPLE_RATE);
        sound.close();
        expect(decode(path).length).toBeWithin(0.49 * SAMPLE_RATE, 0.51 * SAMPLE_RATE);
      }
    }
  });

  test("data that is not sound is refused with a reason for the client", () => {
    const refusal = (path: string): unknown => {
      try {
        return audio.open(path);
      } catch (error) {
        return error instanceof AudioError && [error.code, error.message];
      }
    };
    expect(refusal(written(new Uint8Array()))).toEqual([
      "bad-sound",
      expect.stringContaining("neither WAV, MP3 nor FLAC"),
    ]);
    expect(refusal(written(wav({ seconds: 0.1, rate: 1 })))).toEqual(["bad-sound", expect.stringContaining("got 1")]);
    expect(refusal(written(wav({ seconds: 0.1, channels: 32 })))).toEqual([
      "bad-sound",
      expect.stringContaining("got 32"),
    ]);
    expect(refusal(join(folder, "missing.wav"))).toEqual(["failed", expect.stringContaining("cannot be opened")]);
  });

  test("samples decoded elsewhere are converted as they arrive", () => {
    const converter = audio.openConverter(48_000);
    const tone = Float32Array.from({ length: 48_000 }, (_, index) => Math.sin((2 * Math.PI * 440 * index) / 48_000));
    const parts: number[] = [];
    for (let at = 0; at < tone.length; at += 960) parts.push(...converter.convert(tone.subarray(at, at + 960)));
    converter.close();
    expect(parts.length).toBeWithin(SAMPLE_RATE - 10, SAMPLE_RATE + 10);
    expect(frequency(Float32Array.from(parts))).toBeWithin(437, 443);
    expect(() => audio.openConverter(0)).toThrow("got 0");
  });
});
