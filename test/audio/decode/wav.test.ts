// WAV files as other programs write them.

import { expect, test } from "bun:test";
import { readSamples, readWav } from "../../../src/audio/decode/wav.ts";
import { tone } from "../../support/fake-program.ts";

test("a file with an unknown length has all the samples that follow", () => {
  const { sampleRate, samples } = readWav(tone(22_050, 0.1));
  expect([sampleRate, samples.length]).toEqual([22_050, 2205]);
  expect(samples[10]).toBeCloseTo(Math.sin((2 * Math.PI * 440 * 10) / 22_050) * (16_000 / 32_768), 3);
});

test("the first of two channels is read, and other chunks, before or after the samples, are skipped", () => {
  const file = Buffer.from(tone(8000, 0.01, 2));
  const chunk = Buffer.from("LIST\x03\0\0\0abc\0", "latin1");
  file.writeUInt32LE(file.length - 44, 40);
  const whole = Buffer.concat([file.subarray(0, 36), chunk, file.subarray(36), chunk]);
  expect(readWav(whole)).toEqual(readWav(tone(8000, 0.01)));
});

test("half a sample at the end is ignored", () => {
  expect(readSamples(Uint8Array.of(0, 64, 0, 192, 1))).toEqual(Float32Array.of(0.5, -0.5));
});

test("any other bytes are refused, however short", () => {
  const file = Buffer.from(tone(8000, 0.01));
  const bits = Buffer.from(file);
  bits.writeUInt16LE(24, 34);
  const mute = Buffer.from(file);
  mute.writeUInt32LE(0, 24);
  const endless = Buffer.from(file);
  endless.writeUInt32LE(0xffff_ffff, 16);
  for (const bytes of [bits, mute, endless, Buffer.from("RIFF"), file.subarray(0, 30), new Uint8Array()]) {
    expect(() => readWav(bytes)).toThrow(/WAV/);
  }
});
