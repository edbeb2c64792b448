// The same sound at another sample rate.

import { expect, test } from "bun:test";
import { resample } from "../../src/audio/resample.ts";

const sine = (hertz: number, rate: number, seconds = 0.5): Float32Array =>
  Float32Array.from(
    { length: Math.round(rate * seconds) },
    (_, at) => 0.5 * Math.sin((2 * Math.PI * hertz * at) / rate),
  );

/** Returns the largest difference, without the ends. */
function difference(a: Float32Array, b: Float32Array): number {
  return a.slice(500, -500).reduce((most, sample, at) => Math.max(most, Math.abs(sample - (b[at + 500] ?? 9))), 0);
}

test.each([
  [22_050, 24_000],
  [16_000, 24_000],
  [44_100, 24_000],
  [48_000, 24_000],
  [11_025, 24_000],
])("a tone at %p Hz stays the same at %p", (from, to) => {
  for (const hertz of [100, 1000, 4000]) {
    const result = resample(sine(hertz, from), from, to);
    expect(Math.abs(result.length - to / 2)).toBeLessThan(2);
    expect(difference(result, sine(hertz, to))).toBeLessThan(0.005);
  }
});

test("frequencies above the new rate's limit are removed, and do not alias to another tone", () => {
  const result = resample(sine(17_000, 48_000), 48_000, 24_000);
  expect(difference(result, new Float32Array(result.length))).toBeLessThan(0.005);
});

test("the same rate changes nothing, and empty sound stays empty", () => {
  const samples = sine(440, 24_000);
  expect(resample(samples, 24_000, 24_000)).toBe(samples);
  expect(resample(new Float32Array(), 22_050, 24_000)).toHaveLength(0);
  expect(resample(new Float32Array(1), 22_050, 24_000)).toHaveLength(1);
});
