import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { SAMPLE_RATE } from "../../../src/audio/decode/sound-tools.ts";
import type { Span } from "../../../ffi/whisper/api.ts";
import { joined, PhraseFinder } from "../../../src/engine/transcription/child/phrases.ts";
import { LONGEST_STRETCH, PhraseQueue, Stretch } from "../../../src/engine/transcription/child/stretch.ts";

/** Seconds that `findSpeechStrictly` keeps around speech, and of the shortest speech that it finds. */
const AROUND = 0.3;
const SHORTEST = 0.1;

/** Returns a recording that is 1 during speech and 0 elsewhere; spans are in seconds. */
function recording(seconds: number, spoken: readonly (readonly [from: number, to: number])[]): Float32Array {
  const samples = new Float32Array(seconds * SAMPLE_RATE);
  for (const [from, to] of spoken) samples.fill(1, Math.round(from * SAMPLE_RATE), Math.round(to * SAMPLE_RATE));
  return samples;
}

/** Returns the spans of ones. */
function findSpeech(samples: Float32Array): Span[] {
  const spans: Span[] = [];
  for (let at = 0; at < samples.length; at++) {
    if (samples[at] === 0) continue;
    const start = at;
    while (at < samples.length && samples[at] !== 0) at++;
    spans.push({ start, end: at });
  }
  return spans;
}

/** Finds speech by the detector's rules: it leaves out what is short, and extends the rest on both sides. */
function findSpeechStrictly(samples: Float32Array): Span[] {
  const around = AROUND * SAMPLE_RATE;
  return findSpeech(samples)
    .filter(({ start, end }) => end - start > SHORTEST * SAMPLE_RATE)
    .map(({ start, end }) => ({ start: Math.max(0, start - around), end: Math.min(samples.length, end + around) }));
}

function phrasesOf(samples: Float32Array, piece: number, detector = findSpeech) {
  const finder = new PhraseFinder(detector, detector === findSpeech ? 0 : AROUND);
  const found = [];
  for (let at = 0; at < samples.length; at += piece) found.push(...finder.push(samples.subarray(at, at + piece)));
  return [...found, ...finder.end()];
}

/** Returns the speech without pauses longer than 40 ms, and the positions where pauses were removed. */
function withoutPauses(speech: Float32Array): { samples: Float32Array; pauses: number[] } {
  const frame = SAMPLE_RATE / 100;
  const kept: Float32Array[] = [];
  const pauses: number[] = [];
  let quiet = 0;
  for (let at = 0; at + frame <= speech.length; at += frame) {
    const samples = speech.subarray(at, at + frame);
    const loudness = Math.sqrt(samples.reduce((sum, one) => sum + one * one, 0) / frame);
    quiet = loudness < 0.02 ? quiet + 1 : 0;
    if (quiet <= 4) kept.push(samples);
    if (quiet === 10) pauses.push(kept.length * frame);
  }
  return { samples: joined(kept), pauses };
}

const times = (phrases: ReturnType<typeof phrasesOf>) =>
  phrases.map(({ start, samples }) => [start / SAMPLE_RATE, (start + samples.length) / SAMPLE_RATE]);

describe("phrases", () => {
  const spoken = [
    [1, 4],
    [10, 15],
    // Across the end of the first half minute.
    [28, 33],
    [58.5, 59],
    [70, 71],
  ] as const;

  test.each([997, 16_000, 1_000_000])("have the recording's times, in whatever pieces it arrives (%i)", (piece) => {
    const samples = recording(75, spoken);
    expect(times(phrasesOf(samples, piece))).toEqual(spoken.map(([from, to]) => [from, to]));
  });

  test.each([
    ["is noticed at the end of the first half minute", 29.5, 31],
    ["is too short there to be noticed", 29.92, 31],
    ["is too short on either side", 29.92, 30.08],
    ["begins after it", 30.05, 31],
  ])("are whole, with what is around them, when speech %s", (_name, from, to) => {
    const found = times(phrasesOf(recording(45, [[from, to]]), 16_000, findSpeechStrictly));
    expect(found).toEqual([[from - AROUND, to + AROUND]]);
  });

  test("contain all speech when a sentence ends just before one that begins at the half minute", () => {
    const spoken = [
      [20, 29.62],
      [29.92, 32],
    ] as const;
    const phrases = phrasesOf(recording(45, spoken), 16_000, findSpeechStrictly);
    const ones = joined(phrases.map(({ samples }) => samples)).reduce((sum, one) => sum + one, 0);
    expect(ones / SAMPLE_RATE).toBeGreaterThanOrEqual(9.62 + 2.08);
  });

  test("split continuous speech at the quietest point near half a minute, and lose nothing", () => {
    const samples = recording(70, [[0, 70]]).map((_, at) => (at % 2 ? 0.5 : -0.5));
    // Two quiet points within words and one between words; quieter points earlier do not count.
    const quiet = [
      [5, 0.3, 0.001],
      [22, 0.02, 0.001],
      [26, 0.15, 0.1],
      [52, 0.13, 0.2],
    ] as const;
    for (const [from, length, loud] of quiet) {
      for (let at = from * SAMPLE_RATE; at < (from + length) * SAMPLE_RATE; at++)
        samples[at] = (samples[at] ?? 0) * loud;
    }
    const phrases = phrasesOf(samples, 50_000);
    expect(phrases).toHaveLength(3);
    const [first, second] = phrases.map(({ start, samples: { length } }) => (start + length) / SAMPLE_RATE);
    expect(Math.abs((first ?? 0) - 26.075)).toBeLessThan(0.07);
    expect(Math.abs((second ?? 0) - 52.065)).toBeLessThan(0.07);
    expect(joined(phrases.map((phrase) => phrase.samples))).toEqual(samples);
    expect(phrases.every(({ tail }) => tail.length === 0)).toBe(true);
    // Joined in one stretch they are identical to the recording.
    expect(new Stretch(phrases).samples).toEqual(samples);
  });

  test("split speech whose pauses were removed where a pause was, never within a word", async () => {
    const file = await Bun.file(join(import.meta.dir, "../../fixtures/sounds/jfk.wav")).arrayBuffer();
    const original = Float32Array.from(new Int16Array(file.slice(44)), (sample) => sample / 2 ** 15);
    const { samples, pauses } = withoutPauses(original);
    const length = 70 * SAMPLE_RATE;
    const speech = Float32Array.from({ length }, (_, at) => samples[at % samples.length] ?? 0);
    for (let begin = 0; begin < samples.length; begin += SAMPLE_RATE / 2) {
      const finder = new PhraseFinder(undefined);
      const phrases = finder.push(speech.subarray(begin));
      expect(phrases.length).toBeGreaterThan(0);
      for (const { start, samples: said } of phrases) {
        const at = (begin + start + said.length) % samples.length;
        const distances = [0, ...pauses, samples.length].map((pause) => Math.abs(pause - at) / SAMPLE_RATE);
        expect(Math.min(...distances)).toBeLessThan(0.15);
      }
    }
  });

  test("are transcribed once when the first moment of continuous speech is missed", () => {
    let heard = 0;
    const finder = new PhraseFinder((samples) => {
      heard++;
      return [{ start: 160, end: samples.length }];
    });
    const phrases = [...finder.push(new Float32Array(60 * SAMPLE_RATE)), ...finder.end()];
    expect([heard, phrases.length]).toEqual([3, 3]);
  });

  test("there are none in silence, and without a detector the whole recording is speech", () => {
    expect(phrasesOf(recording(40, []), 16_000)).toEqual([]);
    const deaf = new PhraseFinder(undefined);
    const heard = times([...deaf.push(recording(40, [])), ...deaf.end()]);
    expect(heard.map((span) => span.map(Math.round))).toEqual([
      [0, 30],
      [30, 40],
    ]);
  });
});

describe("stretches", () => {
  test("end with a phrase, however short they should be", () => {
    const queue = new PhraseQueue();
    const spoken = [
      [0, 4],
      [5, 9],
      [10, 14],
      [15, 35],
    ] as const;
    for (const phrase of phrasesOf(recording(36, spoken), 16_000)) queue.add(phrase);
    const next = () => queue.take(10 * SAMPLE_RATE);
    expect([next()?.seconds, next()?.seconds, next()?.seconds].map((seconds) => Math.round(seconds ?? 0))).toEqual([
      8, 4, 20,
    ]);
    expect(next()).toBeUndefined();
  });

  test("end at a long silence, across which a segment would be one subtitle", () => {
    const queue = new PhraseQueue();
    const spoken = [
      [1, 3],
      [10, 12],
      [70, 72],
    ] as const;
    for (const phrase of phrasesOf(recording(75, spoken), 16_000)) queue.add(phrase);
    expect(queue.fills(LONGEST_STRETCH)).toBe(true);
    const [first, second] = [queue.take(LONGEST_STRETCH), queue.take(LONGEST_STRETCH)];
    expect([first?.end, second?.original(0, 9)]).toEqual([12, { start: 70, end: 72 }]);
  });

  test("contain phrases without the silence between them, and map times back to the recording", () => {
    const phrases = phrasesOf(
      recording(20, [
        [2, 4],
        [10, 13],
      ]),
      16_000,
    );
    const stretch = new Stretch(phrases);
    // Two phrases, the end of the first, and a pause.
    expect(stretch.seconds).toBeCloseTo(5.2, 6);
    expect(joined(phrases.map(({ samples }) => samples)).reduce((sum, one) => sum + one, 0)).toBe(5 * SAMPLE_RATE);
    // Within the first phrase, from the first into the second, and outside both.
    const pairs = [
      [0, 1.5, 2, 3.5],
      [1.5, 3.2, 3.5, 11],
      [2.2, 3.2, 10, 11],
      [1.5, 2.1, 3.5, 4],
      [1.5, 2.23, 3.5, 4],
      // A time at the end of the first phrase, or between the two, belongs to the second.
      [1.98, 3.2, 10, 11],
      [2.1, 3.2, 10, 11],
      [3.2, 99, 11, 13],
      [2.05, 2.1, 10, 10],
    ] as const;
    for (const [start, end, from, to] of pairs) {
      const times = stretch.original(start, end);
      expect(times.start).toBeCloseTo(from, 3);
      expect(times.end).toBeCloseTo(to, 3);
    }
  });

  test("are at most as long as the model can hear, in order, and contain all speech", () => {
    const spoken = Array.from({ length: 40 }, (_, at) => [at * 4 + 1, at * 4 + 4] as const);
    const queue = new PhraseQueue();
    for (const phrase of phrasesOf(recording(161, spoken), 16_000)) queue.add(phrase);
    expect(queue.fills(LONGEST_STRETCH)).toBe(true);
    const stretches: Stretch[] = [];
    for (let next = queue.take(LONGEST_STRETCH); next; next = queue.take(LONGEST_STRETCH)) stretches.push(next);
    expect(stretches).toHaveLength(5);
    expect(Math.max(...stretches.map(({ seconds }) => seconds))).toBeLessThanOrEqual(30);
    const ones = stretches.flatMap(({ samples }) => [...samples]).filter((sample) => sample === 1).length;
    expect(ones).toBe(120 * SAMPLE_RATE);
    const begins = stretches.map((stretch) => stretch.original(0, 1).start);
    expect(begins).toEqual(begins.toSorted((a, b) => a - b));
    expect([queue.isEmpty, queue.fills(1)]).toEqual([true, false]);
  });
});
