// Speech to text through the real library: what is recognized, and where somebody speaks.

import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LISTENING_MEMORY, LISTENING_WINDOW, WhisperError } from "../../ffi/whisper/api.ts";
import { SAMPLE_RATE } from "../../src/audio/decode/sound-tools.ts";
import { AROUND_SPEECH_SECONDS, PhraseFinder } from "../../src/engine/transcription/child/phrases.ts";
import { randomNumbers } from "../support/dice.ts";
import { machine, music } from "../support/unspoken.ts";
import { MODEL as CHAT_MODEL } from "./harness.ts";
import {
  expectInOrder,
  hear,
  isBuilt,
  jfk,
  JFK_WORDS,
  load,
  MODEL,
  seconds,
  VAD,
  whisperRig,
  wordsOf,
} from "./whisper-harness.ts";

const rig = whisperRig();
const LENGTH = jfk.length / seconds(1);
/** What suffices for some seconds of sound. */
const QUICK = { language: "en", audioContext: 250, beams: 1 };

describe.skipIf(!isBuilt)("a model", () => {
  test("says what it can do", async () => {
    expect(await load(rig)).toBeUndefined();
    const { languages, bytes, ...rest } = rig.whisper.model();
    expect(rest).toEqual({ type: "base", device: "CPU", audioContext: 1500 });
    expect(languages).toContainValues(["en", "de", "zh"]);
    expect(languages).toHaveLength(99);
    expect(bytes).toBe(readFileSync(MODEL).length);
  });

  test("that is damaged is an error, and the next one loads", async () => {
    const whole = readFileSync(MODEL);
    const damaged = (name: string, bytes: Uint8Array) => {
      const path = join(rig.folder, name);
      writeFileSync(path, bytes);
      return path;
    };
    const patched = (offset: number, value: number) => {
      const copy = Buffer.from(whole.subarray(0, 1 << 20));
      copy.writeInt32LE(value, offset);
      return copy;
    };
    const renamed = Buffer.from(whole);
    renamed.write("encoder.conv9", renamed.indexOf("encoder.conv1.weight"));
    const attempts = [
      { path: join(rig.folder, "none.bin") },
      { path: CHAT_MODEL },
      { path: damaged("empty.bin", new Uint8Array()) },
      { path: damaged("half.bin", whole.subarray(0, whole.length / 2)) },
      { path: damaged("header.bin", whole.subarray(0, 40)) },
      { path: damaged("layers.bin", patched(20, 5)) },
      { path: damaged("type.bin", patched(44, 99)) },
      { path: damaged("width.bin", patched(12, -1)) },
      { path: damaged("renamed.bin", renamed) },
      { path: VAD },
      { vadPath: MODEL },
      { vadPath: damaged("vad.bin", readFileSync(VAD).subarray(0, 50_000)) },
    ];
    for (const attempt of attempts) expect(await load(rig, attempt)).toBeString();
    expect(await load(rig)).toBeUndefined();
  });
});

describe.skipIf(!isBuilt)("speech", () => {
  beforeAll(async () => {
    expect(await load(rig)).toBeUndefined();
  });

  test("is recognized word for word, with times and its language, segments in time and nothing told twice", () => {
    // In a short clip, without the silence behind it. Words have no times where nobody asks.
    const clip = hear(rig, jfk.subarray(0, seconds(3.5)), QUICK);
    expect(clip.text).toMatch(/^ And so,? my fellow Americans/i);
    expect(clip.language).toBe("en");
    expect(clip.segments.map(({ words }) => words)).toEqual(clip.segments.map(() => undefined));
    expect(() => rig.whisper.submit(jfk, { audioContext: -1 })).toThrow(WhisperError);
    // A job that has heard a clip does not make the next one hard of hearing.
    const { text, segments, language } = hear(rig, jfk, { wordTimes: true });
    expect(wordsOf(text)).toEqual(JFK_WORDS);
    expect(language).toBe("en");
    expectInOrder(segments, LENGTH);
    for (const { tokens, temperature, avgLogprob, noSpeechProb } of segments) {
      expect(tokens.length).toBeGreaterThan(0);
      expect(temperature).toBe(0);
      expect(avgLogprob).toBeWithin(-1, 0);
      expect(noSpeechProb).toBeWithin(0, 0.5);
    }
    const words = segments.flatMap((segment) => segment.words ?? []);
    expect(words.map((word) => word.text).join(" ")).toBe(text.trim());
    expect(words).toHaveLength(JFK_WORDS.length);
    expectInOrder(words, LENGTH);
    expect(words.find(({ text: word }) => word === "ask")?.start).toBeWithin(3, 4.5);
  });

  test("of more than half a minute ends with a smaller encoder", () => {
    const first = jfk.subarray(0, seconds(3.5));
    const long = new Float32Array(seconds(34));
    for (const start of [0, 30.2]) long.set(first, seconds(start));
    const [whole, fitted] = [0, 384].map((leastAudioContext) =>
      hear(rig, long, { language: "en", beams: 1, audioContext: 600, leastAudioContext }),
    );
    expect(fitted?.text).toMatch(/^ And so,? my fellow Americans.* And so,? my fellow Americans/i);
    // The first half minute is encoded alike, the rest is not.
    expect(fitted?.segments[0]).toEqual(whole?.segments[0]);
    expect(fitted?.segments.at(-1)?.avgLogprob).not.toBe(whole?.segments.at(-1)?.avgLogprob);
  });

  test("has words that last, even where it is cut off", () => {
    for (const [from, to] of [
      [0, 1.2],
      [5, 11],
    ] as const) {
      const clip = jfk.subarray(seconds(from), seconds(to));
      const { segments } = hear(rig, clip, { ...QUICK, audioContext: 400, wordTimes: true });
      const words = segments.flatMap((segment) => segment.words ?? []);
      expect(words.length).toBeGreaterThan(2);
      expectInOrder(words, to - from);
      expect(words.filter(({ start, end }) => end <= start)).toEqual([]);
    }
  });

  test("is recognized behind a prompt of one word, however long", () => {
    const clip = jfk.subarray(0, seconds(3.5));
    for (const word of ["a".repeat(1500), "😀".repeat(300)]) {
      // At the highest temperature there is no second attempt.
      const heard = hear(rig, clip, { ...QUICK, prompt: word, temperature: 1 });
      expect(heard.segments.length).toBeGreaterThan(0);
    }
  });

  test("may be too short for any", () => {
    expect(hear(rig, new Float32Array(0), { audioContext: QUICK.audioContext }).segments).toEqual([]);
    const broken = new Float32Array(10).fill(Number.NaN);
    expect(hear(rig, broken, { ...QUICK, language: "de" }).segments).toEqual([]);
    expect(() => rig.whisper.submit(jfk, { language: "Klingon" })).toThrow(WhisperError);
  });

  test("is found phrase by phrase, each time anew, and not in silence, noise or music", () => {
    const phrases = rig.whisper.speech(jfk);
    expect(phrases.length).toBeWithin(3, 6);
    expectInOrder(phrases, jfk.length);
    expect(rig.whisper.speech(jfk)).toEqual(phrases);
    expect(rig.whisper.speech(jfk, { minSilenceSeconds: 3 })).toHaveLength(1);
    expect(rig.whisper.speech(new Float32Array(0))).toEqual([]);
    expect(rig.whisper.speech(new Float32Array(seconds(5)))).toEqual([]);
    for (const unspoken of [noise(seconds(5)), machine(20), music(20)]) {
      expect(rig.whisper.speech(unspoken)).toEqual([]);
    }
    expect(rig.whisper.speech(noise(seconds(5)), { threshold: 0 })).toEqual([{ start: 0, end: seconds(5) }]);
  });

  test("is found where it is as short as a yes, but not in clicks", () => {
    const alone = (samples: Float32Array) => {
      const recording = new Float32Array(seconds(5));
      for (let at = 1; at < 5; at++) recording.set(samples, seconds(at));
      return rig.whisper.speech(recording);
    };
    expect(alone(jfk.subarray(seconds(6.4), seconds(6.65)))).toHaveLength(4);
    expect(alone(noise(seconds(0.01)))).toEqual([]);
  });

  test.each([20, 29.85, 30.05])("is found with the silence before it wherever it begins (at %d s)", (onset) => {
    const { whisper } = rig;
    const around = { padSeconds: AROUND_SPEECH_SECONDS };
    const [first] = whisper.speech(jfk, { padSeconds: 0 });
    const samples = noise(seconds(45)).map((sample) => sample / 1000);
    samples.set(jfk, seconds(onset) - (first?.start ?? 0));
    const finder = new PhraseFinder((part) => whisper.speech(part, around));
    const [phrase] = [...finder.push(samples), ...finder.end()];
    expect((phrase?.start ?? 0) / SAMPLE_RATE).toBeWithin(onset - 0.35, onset - 0.2);
  });

  test("is heard piece by piece as in one, whatever else is listened to in between", () => {
    const { whisper } = rig;
    const whole = whisper.listen(jfk, new Float32Array(LISTENING_MEMORY));
    expect(whole).toHaveLength(Math.floor(jfk.length / LISTENING_WINDOW));
    expect(whole.filter((probability) => probability > 0.5).length).toBeWithin(whole.length / 2, whole.length);

    const memories = [new Float32Array(LISTENING_MEMORY), new Float32Array(LISTENING_MEMORY)] as const;
    const other = noise(seconds(11));
    const heard: number[][] = [[], []];
    for (let at = 0; at + LISTENING_WINDOW <= jfk.length; at += 3 * LISTENING_WINDOW) {
      const to = at + 3 * LISTENING_WINDOW;
      heard[0]?.push(...whisper.listen(jfk.subarray(at, to), memories[0]));
      whisper.speech(jfk.subarray(0, seconds(1)));
      heard[1]?.push(...whisper.listen(other.subarray(at, to), memories[1]));
    }
    expect(heard[0]).toEqual([...whole]);
    expect(Math.max(...(heard[1] ?? []))).toBeLessThan(0.5);
  });

  test("is listened to in whole windows, with a memory of its size", () => {
    const memory = new Float32Array(LISTENING_MEMORY);
    expect(rig.whisper.listen(jfk.subarray(0, LISTENING_WINDOW - 1), memory)).toHaveLength(0);
    expect(rig.whisper.listen(new Float32Array(0), memory)).toHaveLength(0);
    expect(memory.every((value) => value === 0)).toBe(true);
    expect(() => rig.whisper.listen(jfk, new Float32Array(1))).toThrow(WhisperError);
  });

  test("is not looked for without a detector", async () => {
    const { whisper } = rig;
    whisper.unload();
    whisper.loadStart({ path: MODEL, workers: 1, threads: 1, gpu: false, flashAttention: true });
    while (whisper.loadPoll().state === "loading") await Bun.sleep(1);
    expect(() => whisper.speech(jfk)).toThrow(WhisperError);
    expect(() => whisper.listen(jfk, new Float32Array(LISTENING_MEMORY))).toThrow(WhisperError);
  });
});

/** The same at each run. */
function noise(length: number): Float32Array {
  const random = randomNumbers(1);
  return Float32Array.from({ length }, () => random() / 2 - 0.25);
}
