import { describe, expect, test } from "bun:test";
import { Fourier } from "../../src/audio/fourier.ts";
import { stretch } from "../../src/audio/time-stretch.ts";
import { SPEECH_RATE } from "../../src/domain/speech.ts";

/** One second of a tone with harmonics, like those of voices. */
const tone = Float32Array.from({ length: SPEECH_RATE }, (_, at) => {
  const phase = (2 * Math.PI * 200 * at) / SPEECH_RATE;
  return 0.2 * (Math.sin(phase) + 0.5 * Math.sin(2 * phase + 1) + 0.3 * Math.sin(3 * phase + 2));
});
const loudness = (samples: Float32Array) => Math.sqrt(samples.reduce((sum, x) => sum + x * x, 0) / samples.length);

/** Returns the frequency with the most power, in Hz. */
function pitch(samples: Float32Array): number {
  const length = 4800;
  const row = { re: Float64Array.from(samples.subarray(2400, 2400 + length)), im: new Float64Array(length) };
  new Fourier(length).forward(row);
  const power = Array.from({ length: length / 2 }, (_, bin) => (row.re[bin] ?? 0) ** 2 + (row.im[bin] ?? 0) ** 2);
  return (power.indexOf(Math.max(...power)) * SPEECH_RATE) / length;
}

describe.each([[0.5], [0.8], [1.7], [2.6667]])("at speed %d", (speed) => {
  test("sound has another length with the same pitch and loudness", () => {
    const changed = stretch(tone, speed);
    expect(changed.length).toBe(Math.round(SPEECH_RATE / speed));
    expect(pitch(changed)).toBe(200);
    expect(loudness(changed) / loudness(tone)).toBeWithin(0.97, 1.03);
  });
});

test("a word keeps its relative position", () => {
  const word = tone.map((sample, at) => (at > 12_000 && at < 16_800 ? sample : 0));
  const slow = stretch(word, 0.5);
  expect(loudness(slow.subarray(0, 23_000))).toBeLessThan(1e-3);
  expect(loudness(slow.subarray(25_000, 32_600)) / loudness(word.subarray(12_000, 16_800))).toBeWithin(0.95, 1.05);
  expect(loudness(slow.subarray(34_600))).toBeLessThan(1e-3);
});

test("sound of a few samples, or none, gets its exact length", () => {
  expect(stretch(tone.subarray(0, 100), 2).length).toBe(50);
  expect(stretch(new Float32Array(), 2).length).toBe(0);
});

test("a Fourier transform equals the sum that defines it, and can be inverted", () => {
  for (const length of [1, 12, 50, 1200]) {
    const value = (at: number) => Math.sin(at * at);
    const row = { re: Float64Array.from({ length }, (_, at) => value(at)), im: new Float64Array(length) };
    const fourier = new Fourier(length);
    fourier.forward(row);
    const bin = length >> 2;
    const sum = row.re.reduce((total, _, at) => total + value(at) * Math.cos((2 * Math.PI * bin * at) / length), 0);
    expect(row.re[bin]).toBeCloseTo(sum, 8);
    fourier.inverse(row);
    expect((row.re[length - 1] ?? 0) / length).toBeCloseTo(value(length - 1), 8);
    expect(row.im[length - 1]).toBeCloseTo(0, 8);
  }
});
