// Sound that is encoded in any format, in pieces of any length, decodes to the same sound.

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import createOpus from "opusscript/build/opusscript_native_wasm.js";
import type { AudioFormat } from "../../../src/audio/encode/encoder.ts";
import { FORMATS } from "../../../src/audio/encode/formats.ts";
import { aacSamples, decodeCaf, decodeFlac, decodeWav, mp3Samples, readOgg } from "./decoders.ts";

const RATE = 24_000;
/** Five seconds of sound that is hard to encode: tones, noise, silence, and a passage that is too loud. */
const sound = Float32Array.from({ length: 5 * RATE + 123 }, (_, at) => {
  if (at > 30_000 && at < 50_000) return 0;
  const noise = 0.01 * Math.sin(at * at * 12.9898);
  const tone = Math.sin(2 * Math.PI * (200 + at / 1000) * (at / RATE)) * Math.abs(Math.sin(at / 9000));
  return (at > 100_000 ? 1.4 : 0.5) * tone + noise;
});
const clipped = Int16Array.from(sound, (sample) => Math.round(Math.max(-1, Math.min(1, sample)) * 32_767));

async function encode(format: AudioFormat, pieces: readonly number[]) {
  const encoder = await format.make();
  const parts: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < sound.length; turn++) {
    const length = pieces[turn % pieces.length] ?? 1;
    parts.push(encoder.push(sound.subarray(at, at + length)));
    at += length;
  }
  return Buffer.concat([...parts, encoder.finish()]);
}

async function encodeNothing(format: AudioFormat) {
  const encoder = await format.make();
  return Buffer.concat([encoder.push(new Float32Array()), encoder.finish()]);
}

describe.each([
  ["wav", decodeWav],
  ["caf", decodeCaf],
  ["flac", decodeFlac],
] as const)("%s", (name, decode) => {
  const format = FORMATS[name];

  test("has every sample, and its length only when it is complete", async () => {
    const file = await encode(format, [24_000, 1, 4097]);
    expect(await encode(format, [sound.length])).toEqual(file);
    const streamed = decode(file);
    expect(streamed.sampleRate).toBe(RATE);
    expect(streamed.promised).toBeUndefined();
    expect(Buffer.compare(Buffer.from(streamed.samples.buffer), Buffer.from(clipped.buffer))).toBe(0);
    format.complete?.(file, sound.length);
    expect(decode(file)).toEqual({ ...streamed, promised: sound.length });
  });

  test("of an empty sound is a file without samples", async () => {
    expect(decode(await encodeNothing(format)).samples).toHaveLength(0);
  });
});

test("pcm consists of the samples alone", async () => {
  const file = await encode(FORMATS.pcm, [7777]);
  expect(Buffer.compare(file, Buffer.from(clipped.buffer))).toBe(0);
});

test("flac compresses the sound", async () => {
  expect((await encode(FORMATS.flac, [4096])).length).toBeLessThan(0.7 * clipped.byteLength);
});

describe.each([
  ["mp3", mp3Samples],
  ["aac", aacSamples],
] as const)("%s", (name, read) => {
  test("consists of consecutive frames that last as long as the sound", async () => {
    const file = await encode(FORMATS[name], [24_000, 1, 4097]);
    const { samples, sampleRate } = read(file);
    expect(sampleRate).toBe(RATE);
    expect(samples / sound.length).toBeWithin(1, 1.02);
    expect(file.length).toBeLessThan(0.3 * clipped.byteLength);
  });

  test("returns data before the sound ends", async () => {
    const encoder = await FORMATS[name].make();
    const { samples } = read(Buffer.from(encoder.push(sound)));
    expect(samples / sound.length).toBeWithin(0.95, 1);
  });
});

describe("opus", () => {
  test("consists of pages, the last of which marks the end of the sound", async () => {
    const pages = readOgg(await encode(FORMATS.opus, [24_000, 1, 4097]));
    const [head, tags, ...rest] = pages;
    expect(Buffer.from(head?.packets[0] ?? []).toString("latin1", 0, 8)).toBe("OpusHead");
    expect(Buffer.from(tags?.packets[0] ?? []).toString("latin1", 0, 8)).toBe("OpusTags");
    expect(pages.map(({ flags }) => flags)).toEqual([2, ...Array<number>(pages.length - 2).fill(0), 4]);
    // Counted at 48,000 per second.
    const skip = Buffer.from(head?.packets[0] ?? []).readUInt16LE(10);
    expect((rest.at(-1)?.position ?? 0) - skip).toBe(2 * sound.length);
    const packets = rest.flatMap((page) => page.packets).length;
    expect(packets).toBe(Math.ceil((2 * sound.length + skip) / 960));
    for (const [at, { position }] of rest.slice(0, -1).entries()) {
      const before = rest.slice(0, at + 1).flatMap((page) => page.packets).length;
      expect(position).toBe(before * 960);
    }
  });

  test("decodes to the sound, without the samples to skip", async () => {
    const pages = readOgg(await encode(FORMATS.opus, [sound.length]));
    const decoded = decodeOpus(pages.slice(2).flatMap((page) => page.packets)).subarray(156);
    // Where the sound is not clipped: the likeness of two signals does not depend on their loudness.
    expect(likeness(decoded.subarray(0, 30_000), clipped.subarray(0, 30_000))).toBeGreaterThan(0.95);
  });

  test("of an empty sound is a file that ends where it begins", async () => {
    const pages = readOgg(await encodeNothing(FORMATS.opus));
    expect(pages.at(-1)).toMatchObject({ flags: 4, position: 312 });
  });
});

function decodeOpus(packets: readonly Uint8Array[]): Int16Array {
  const wasm = Bun.resolveSync("opusscript/build/opusscript_native_wasm.wasm", import.meta.dir);
  const module = createOpus({ wasmBinary: readFileSync(wasm) });
  const handler = new module.OpusScriptHandler(RATE, 1, 2049);
  const [input, output] = [module._malloc(1276), module._malloc(4 * 2880)];
  const parts = packets.map((packet) => {
    module.HEAPU8.set(packet, input);
    const samples = handler._decode(input, packet.length, output);
    // Each byte of the string takes two in memory.
    return Buffer.from(module.HEAPU16.slice(output / 2, output / 2 + 2 * samples));
  });
  return new Int16Array(new Uint8Array(Buffer.concat(parts)).buffer);
}

/** Returns 1 for signals that differ only in loudness. */
function likeness(a: Int16Array, b: Int16Array): number {
  const product = (x: Int16Array, y: Int16Array) => x.reduce((sum, value, at) => sum + value * (y[at] ?? 0), 0);
  return product(a, b) / Math.sqrt(product(a, a) * product(b, b));
}
