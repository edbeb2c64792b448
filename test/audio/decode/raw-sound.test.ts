import { expect, test } from "bun:test";
import type { NativeAudio } from "../../../ffi/audio/api.ts";
import { rawSamples } from "../../../src/audio/decode/raw-sound.ts";
import type { RawFormat } from "../../../src/domain/transcription.ts";

/** A converter that drops every other sample, and counts instances that were not closed. */
function audio() {
  const log: (number | string)[] = [];
  const openConverter = (rate: number) => {
    log.push(rate);
    const convert = (samples: Float32Array) => samples.filter((_, at) => at % 2 === 0);
    return { convert, close: () => void log.push("closed") };
  };
  return { log, openConverter } as unknown as NativeAudio & { log: typeof log };
}

const decoded = (encoding: RawFormat["encoding"], bytes: readonly number[], rate = 16_000) =>
  [...rawSamples({ format: { encoding, rate }, bytes: Uint8Array.from(bytes) }, audio())].map(
    (one) => one * 2 ** 15 + 0,
  );

test("16-bit samples are read as little-endian", () => {
  expect(decoded("pcm16", [0, 0, 1, 0, 0xff, 0xff, 0xff, 0x7f, 0, 0x80])).toEqual([0, 1, -1, 32_767, -32_768]);
});

// The table of the standard, as 16-bit values.
test("G.711 is decoded to the standard's values", () => {
  expect(decoded("ulaw", [0xff, 0x7f, 0x80, 0x00, 0xef, 0x6f, 0xf0])).toEqual([0, 0, 32_124, -32_124, 132, -132, 120]);
  expect(decoded("alaw", [0xd5, 0x55, 0xaa, 0x2a, 0xc5, 0x45, 0xf5])).toEqual([8, -8, 32_256, -32_256, 264, -264, 528]);
});

test("another sample rate is converted, and the converter is closed", () => {
  const native = audio();
  const sound = { format: { encoding: "ulaw", rate: 32_000 }, bytes: new Uint8Array(6) } as const;
  expect(rawSamples(sound, native)).toHaveLength(3);
  expect(native.log).toEqual([32_000, "closed"]);
});
