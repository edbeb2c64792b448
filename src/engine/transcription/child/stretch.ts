// Phrases put together for the model: as much speech as it hears at once, without the silence in between, and the way back
// to the recording's times. What is between phrases is what whisper.cpp puts there.

import { SAMPLE_RATE } from "../../../audio/decode/tools.ts";
import { joined, type Phrase } from "./phrases.ts";

/** Samples that the model hears at once. */
export const LONGEST_STRETCH = 30 * SAMPLE_RATE;
/** Between two phrases. */
const PAUSE = SAMPLE_RATE / 10;

interface Part {
  /** Number of its first sample here, and in the recording. */
  readonly at: number;
  readonly start: number;
  readonly length: number;
}

/** What begins so late in a phrase begins behind it, and what ends so early in one ended before it. */
const LEAST_SAID = SAMPLE_RATE / 20;

/** The recording's seconds for a sample here, in or beside this part. */
const within = (part: Part, at: number): number =>
  (part.start + Math.min(Math.max(at - part.at, 0), part.length)) / SAMPLE_RATE;

export class Stretch {
  readonly samples: Float32Array;
  private readonly parts: readonly Part[];

  constructor(readonly phrases: readonly Phrase[]) {
    const pieces: Float32Array[] = [];
    const parts: Part[] = [];
    let at = 0;
    const add = (samples: Float32Array) => {
      pieces.push(samples);
      at += samples.length;
    };
    for (const [index, { start, samples, tail }] of phrases.entries()) {
      parts.push({ at, start, length: samples.length });
      add(samples);
      const next = phrases[index + 1];
      // What was cut is put together again.
      if (next && next.start > start + samples.length) {
        add(tail);
        add(new Float32Array(PAUSE));
      }
    }
    this.samples = joined(pieces);
    this.parts = parts;
  }

  get seconds(): number {
    return this.samples.length / SAMPLE_RATE;
  }

  /** Where it ends, in seconds of the recording. */
  get end(): number {
    const last = this.parts.at(-1);
    return last ? (last.start + last.length) / SAMPLE_RATE : 0;
  }

  /**
   * The recording's times for two in this stretch, all in seconds: the beginning and the end of what was said. What is between
   * two phrases belongs to neither: there may be minutes of silence. A beginning there is that of the second, an end that of
   * the first.
   */
  original(start: number, end: number): { readonly start: number; readonly end: number } {
    const from = start * SAMPLE_RATE;
    // The model's beginning is the end before, which is early by a little: what follows is in the second phrase.
    const first = this.parts.find((one) => from < one.at + one.length - LEAST_SAID) ?? this.parts.at(-1);
    const last = this.parts.findLast((one) => one.at + LEAST_SAID < end * SAMPLE_RATE) ?? this.parts[0];
    if (!first || !last) return { start, end };
    const begin = within(first, from);
    return { start: begin, end: Math.max(begin, within(last, end * SAMPLE_RATE)) };
  }
}

/** Phrases that wait, in their order; stretches are made of them when somebody recognises them. */
export class PhraseQueue {
  private phrases: Phrase[] = [];

  get isEmpty(): boolean {
    return this.phrases.length === 0;
  }

  /** Samples that wait. */
  get length(): number {
    return this.phrases.reduce((sum, phrase) => sum + lengthOf(phrase), 0);
  }

  add(phrase: Phrase): void {
    this.phrases.push(phrase);
  }

  /** The phrases of a stretch that was taken last come first again. */
  putBack({ phrases }: Stretch): void {
    this.phrases.unshift(...phrases);
  }

  clear(): void {
    this.phrases = [];
  }

  /** Whether more waits than goes into a stretch of at most so many samples. */
  fills(longest: number): boolean {
    return this.count(longest) < this.phrases.length;
  }

  /** The next stretch, of at most so many samples or of one phrase; undefined when nothing waits. */
  take(longest: number): Stretch | undefined {
    const phrases = this.phrases.splice(0, this.count(longest));
    return phrases.length > 0 ? new Stretch(phrases) : undefined;
  }

  private count(longest: number): number {
    let length = 0;
    const over = this.phrases.findIndex((phrase, index) => {
      const isOver = index > 0 && length + phrase.samples.length > longest;
      length += lengthOf(phrase);
      return isOver;
    });
    return over < 0 ? this.phrases.length : over;
  }
}

/** With what comes behind it in a stretch. */
const lengthOf = ({ samples, tail }: Phrase): number => samples.length + tail.length + PAUSE;
