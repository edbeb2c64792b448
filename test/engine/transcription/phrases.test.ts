import { describe, expect, test } from "bun:test";
import { SAMPLE_RATE } from "../../../src/audio/decode/tools.ts";
import { joined, PhraseFinder, type Span } from "../../../src/engine/transcription/child/phrases.ts";
import { Stretch, StretchBuilder } from "../../../src/engine/transcription/child/stretch.ts";

/** A recording: 1 where somebody speaks, 0 elsewhere; spans in seconds. */
function recording(seconds: number, spoken: readonly (readonly [from: number, to: number])[]): Float32Array {
  const samples = new Float32Array(seconds * SAMPLE_RATE);
  for (const [from, to] of spoken) samples.fill(1, Math.round(from * SAMPLE_RATE), Math.round(to * SAMPLE_RATE));
  return samples;
}

/** Spans of ones. */
function listen(samples: Float32Array): Span[] {
  const spans: Span[] = [];
  for (let at = 0; at < samples.length; at++) {
    if (samples[at] === 0) continue;
    const start = at;
    while (at < samples.length && samples[at] !== 0) at++;
    spans.push({ start, end: at });
  }
  return spans;
}

function phrasesOf(samples: Float32Array, piece: number) {
  const finder = new PhraseFinder(listen);
  const found = [];
  for (let at = 0; at < samples.length; at += piece) found.push(...finder.push(samples.subarray(at, at + piece)));
  return [...found, ...finder.end()];
}

const times = (phrases: ReturnType<typeof phrasesOf>) =>
  phrases.map(({ start, samples }) => [start / SAMPLE_RATE, (start + samples.length) / SAMPLE_RATE]);

describe("phrases", () => {
  const spoken = [
    [1, 4],
    [10, 15],
    // Over the end of the first half minute.
    [28, 33],
    [58.5, 59],
    [70, 71],
  ] as const;

  test.each([997, 16_000, 1_000_000])("have the recording's times, whatever pieces it comes in (%i)", (piece) => {
    const samples = recording(75, spoken);
    expect(times(phrasesOf(samples, piece))).toEqual(spoken.map(([from, to]) => [from, to]));
  });

  test("speech without a pause is cut at half a minute, and nothing of it is lost", () => {
    const phrases = phrasesOf(recording(70, [[0, 70]]), 50_000);
    expect(times(phrases)).toEqual([
      [0, 30],
      [30, 60],
      [60, 70],
    ]);
  });

  test("speech without a pause, of which the first moment is not noticed, is not heard over and over", () => {
    let heard = 0;
    const finder = new PhraseFinder((samples) => {
      heard++;
      return [{ start: 160, end: samples.length }];
    });
    const phrases = [...finder.push(new Float32Array(60 * SAMPLE_RATE)), ...finder.end()];
    expect([heard, phrases.length]).toEqual([2, 2]);
  });

  test("silence has none, and a recording without anybody who listens is all speech", () => {
    expect(phrasesOf(recording(40, []), 16_000)).toEqual([]);
    const deaf = new PhraseFinder(undefined);
    expect(times([...deaf.push(recording(40, [])), ...deaf.end()])).toEqual([
      [0, 30],
      [30, 40],
    ]);
  });
});

describe("stretches", () => {
  test("hold phrases without the silence between them, and know the way back", () => {
    const phrases = phrasesOf(
      recording(20, [
        [2, 4],
        [10, 13],
      ]),
      16_000,
    );
    const stretch = new Stretch(phrases);
    // Two phrases, what follows the first, and a pause.
    expect(stretch.seconds).toBeCloseTo(5.2, 6);
    expect(joined(phrases.map(({ samples }) => samples)).reduce((sum, one) => sum + one, 0)).toBe(5 * SAMPLE_RATE);
    // Within the first, from the first into the second, and beside them.
    const pairs = [
      [0, 1.5, 2, 3.5],
      [1.5, 3.2, 3.5, 11],
      [2.2, 3.2, 10, 11],
      [1.5, 2.1, 3.5, 4],
      [1.5, 2.23, 3.5, 4],
      // What begins where the first ends, or between the two, is in the second.
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

  test("are at most as long as the model hears at once, in order, and hold everything", () => {
    const spoken = Array.from({ length: 40 }, (_, at) => [at * 4 + 1, at * 4 + 4] as const);
    const builder = new StretchBuilder();
    const stretches = phrasesOf(recording(161, spoken), 16_000).flatMap((phrase) => builder.add(phrase) ?? []);
    const last = builder.end();
    if (last) stretches.push(last);
    expect(Math.max(...stretches.map(({ seconds }) => seconds))).toBeLessThanOrEqual(30);
    const ones = stretches.flatMap(({ samples }) => [...samples]).filter((sample) => sample === 1).length;
    expect(ones).toBe(120 * SAMPLE_RATE);
    const begins = stretches.map((stretch) => stretch.original(0, 1).start);
    expect(begins).toEqual(begins.toSorted((a, b) => a - b));
    expect(builder.end()).toBeUndefined();
  });
});
