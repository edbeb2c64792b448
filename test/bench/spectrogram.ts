// `bun test/bench/spectrogram.ts [--voice ID] [--out FOLDER]`: draws a voice's rendering of three sentences as
// pictures: time to the right, frequency upwards to 12 kHz, louder is brighter. Needs `bun build.ts native`.

import { join } from "node:path";
import { parseArgs } from "node:util";
import { Fourier } from "../../src/audio/fourier.ts";
import { pngOfRows } from "../support/png.ts";
import { withServer } from "../support/server.ts";
import { say } from "./spoken.ts";

const SENTENCES = [
  "The quick brown fox jumps over the lazy dog.",
  "She sells sea shells by the sea shore, doesn't she?",
  "On May 3rd, 1998, Dr. Smith paid $12.50 for it!",
];
const WINDOW = 1024;
/** One pixel is ten milliseconds. */
const HOP = 240;
/** Sound this much quieter than the loudest is drawn black. */
const RANGE_DB = 80;

/** Returns a grey picture of these samples. */
function spectrogram(samples: Int16Array): Uint8Array<ArrayBuffer> {
  const fourier = new Fourier(WINDOW);
  const height = WINDOW / 2;
  const width = Math.max(1, Math.floor((samples.length - WINDOW) / HOP));
  const levels = Array.from({ length: width }, (_, column) => {
    const re = Float64Array.from({ length: WINDOW }, (_, at) => {
      const hann = 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / WINDOW);
      return (samples[column * HOP + at] ?? 0) * hann;
    });
    const im = new Float64Array(WINDOW);
    fourier.forward({ re, im });
    return Float64Array.from(
      { length: height },
      (_, bin) => 20 * Math.log10(Math.hypot(re[bin] ?? 0, im[bin] ?? 0) + 1),
    );
  });
  const loudest = Math.max(...levels.map((column) => Math.max(...column)));
  const rows = new Uint8Array(height * (width + 1));
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const below = loudest - (levels[column]?.[height - 1 - row] ?? 0);
      rows[row * (width + 1) + 1 + column] = Math.max(0, Math.round(255 * (1 - below / RANGE_DB)));
    }
  }
  return pngOfRows({ width, height, colour: 0 }, rows);
}

const { values } = parseArgs({ options: { voice: { type: "string" }, out: { type: "string", default: "." } } });
await withServer(["--no-model"], async (server) => {
  for (const [at, sentence] of SENTENCES.entries()) {
    const path = join(values.out, `spectrogram-${at + 1}.png`);
    await Bun.write(path, spectrogram(await say(server, sentence, values.voice)));
    console.log(`${path}: ${sentence}`);
  }
});
process.exit(0);
