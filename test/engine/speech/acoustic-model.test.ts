// The real voice, where it was built: `bun build.ts native` makes it.

import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SPEECH_RATE } from "../../../src/domain/speech.ts";
import { AcousticModel } from "../../../src/engine/speech/child/acoustic-model.ts";
import { loadPhonemizer } from "../../../src/engine/speech/child/load-phonemizer.ts";
import type { Phonemizer } from "../../../src/speech/phonemizer.ts";

setDefaultTimeout(60_000);

const folder = join(import.meta.dir, "../../../vendor/.build/speech/current");
const isBuilt = existsSync(folder);
if (!isBuilt) console.log("skipped: the voice was not built");

describe.skipIf(!isBuilt)("the voice", () => {
  let voice: AcousticModel;
  let phonemizer: Phonemizer;
  const say = async (text: string, speed = 1) => voice.speak(phonemizer.ids(await phonemizer.phonemes(text)), speed);
  const seconds = (samples: Float32Array) => samples.length / SPEECH_RATE;
  const peak = (samples: Float32Array) => samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);

  beforeAll(async () => {
    voice = await AcousticModel.load(readFileSync(join(folder, "voice.onnx")));
    phonemizer = await loadPhonemizer(folder);
  });

  test("says a sentence in the time that people take for it, neither silent nor clipped, and each time the same", async () => {
    const samples = await say("Hello world.");
    expect(seconds(samples)).toBeWithin(0.5, 3);
    expect(peak(samples)).toBeWithin(0.05, 1);
    // Both words are heard: there is sound in the middle of either half.
    for (const part of [0.25, 0.6]) {
      const at = Math.round(part * samples.length);
      expect(peak(samples.subarray(at, at + 2400))).toBeGreaterThan(0.03);
    }
    expect(Buffer.compare(Buffer.from((await say("Hello world.")).buffer), Buffer.from(samples.buffer))).toBe(0);
  });

  test("says it slower and faster over the whole range, at the same pitch", async () => {
    const text = "The quick brown fox jumps over the lazy dog near the river bank.";
    const usual = await say(text);
    for (const speed of [0.25, 0.8, 1.5, 4]) {
      const samples = await say(text, speed);
      expect(seconds(usual) / seconds(samples) / speed).toBeWithin(0.9, 1.1);
      expect(pitch(samples) / pitch(usual)).toBeWithin(0.93, 1.07);
    }
  });
});

/** The middle of the pitches of all loud pieces, in Hz, each the lag at which a piece is most like itself. */
function pitch(samples: Float32Array): number {
  const found: number[] = [];
  for (let at = 0; at + 1200 < samples.length; at += 480) {
    const piece = samples.subarray(at, at + 1200);
    if (piece.reduce((sum, sample) => sum + sample * sample, 0) < 2) continue;
    let best = 0;
    let most = 0;
    for (let lag = Math.round(SPEECH_RATE / 350); lag < SPEECH_RATE / 100; lag++) {
      let product = 0;
      for (let i = 0; i + lag < piece.length; i++) product += (piece[i] ?? 0) * (piece[i + lag] ?? 0);
      if (product / (piece.length - lag) > most) [most, best] = [product / (piece.length - lag), lag];
    }
    if (best > 0) found.push(SPEECH_RATE / best);
  }
  return found.sort((a, b) => a - b)[found.length >> 1] ?? 0;
}
