// Joins phrases for the model: as much speech as it hears at once, without the silence in between, with a mapping back
// to the recording's times. Between phrases there is the same pause as whisper.cpp inserts.

import { SAMPLE_RATE } from "../../../audio/decode/sound-tools.ts";
import { joined, type Phrase } from "./phrases.ts";

/** Most samples that the model hears at once. */
export const LONGEST_STRETCH = 30 * SAMPLE_RATE;
/** Most samples without speech between two phrases of a stretch, and so within a segment, which is also a subtitle. */
const LONGEST_SILENCE = 10 * SAMPLE_RATE;
/** Samples of silence that stand for it. */
const PAUSE = SAMPLE_RATE / 10;

interface Part {
  /** Index of its first sample in the stretch; below, in the recording. */
  readonly at: number;
  readonly start: number;
  readonly length: number;
}

/**
 * Samples. A segment that starts this close to the end of a phrase is taken to start in the next one, and a segment
 * that ends this close to the start of a phrase to end in the one before.
 */
const LEAST_SAID = SAMPLE_RATE / 20;

/** Returns the recording's seconds for a sample of the stretch, clamped to this part. */
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
      // Phrases that were cut apart are joined without a pause.
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

  /** Where the stretch ends, in seconds of the recording. */
  get end(): number {
    const last = this.parts.at(-1);
    return last ? (last.start + last.length) / SAMPLE_RATE : 0;
  }

  /**
   * Maps the start and end of speech in this stretch to the recording's times, all in seconds. The gap between two
   * phrases, in which there may be minutes of silence, belongs to neither: a start there becomes that of the second
   * phrase, an end that of the first.
   */
  original(start: number, end: number): { readonly start: number; readonly end: number } {
    const from = start * SAMPLE_RATE;
    // The model takes the previous end as the start, which is slightly early: what follows is in the second phrase.
    const first = this.parts.find((one) => from < one.at + one.length - LEAST_SAID) ?? this.parts.at(-1);
    const last = this.parts.findLast((one) => one.at + LEAST_SAID < end * SAMPLE_RATE) ?? this.parts[0];
    if (!first || !last) return { start, end };
    const begin = within(first, from);
    return { start: begin, end: Math.max(begin, within(last, end * SAMPLE_RATE)) };
  }
}

/** Waiting phrases, in order; they become stretches when they are to be recognised. */
export class PhraseQueue {
  private phrases: Phrase[] = [];

  get isEmpty(): boolean {
    return this.phrases.length === 0;
  }

  /** How many samples wait. */
  get length(): number {
    return this.phrases.reduce((sum, phrase) => sum + lengthOf(phrase), 0);
  }

  add(phrase: Phrase): void {
    this.phrases.push(phrase);
  }

  /** Puts the phrases of the stretch that was taken last back in front. */
  putBack({ phrases }: Stretch): void {
    this.phrases.unshift(...phrases);
  }

  clear(): void {
    this.phrases = [];
  }

  /** Returns whether more phrases wait than `take` would return. */
  fills(longest: number, silence = LONGEST_SILENCE): boolean {
    return this.count(longest, silence) < this.phrases.length;
  }

  /**
   * Returns the next stretch, of at most `longest` samples or one phrase, and across at most `silence` samples without
   * speech at a time; undefined when nothing waits.
   */
  take(longest: number, silence = LONGEST_SILENCE): Stretch | undefined {
    const phrases = this.phrases.splice(0, this.count(longest, silence));
    return phrases.length > 0 ? new Stretch(phrases) : undefined;
  }

  private count(longest: number, silence: number): number {
    let length = 0;
    const over = this.phrases.findIndex((phrase, index) => {
      const previous = this.phrases[index - 1];
      const isFar = previous && phrase.start - (previous.start + previous.samples.length) > silence;
      const isOver = previous && length + phrase.samples.length > longest;
      length += lengthOf(phrase);
      return isFar || isOver;
    });
    return over < 0 ? this.phrases.length : over;
  }
}

/** Returns the samples of a phrase with what follows it in a stretch. */
const lengthOf = ({ samples, tail }: Phrase): number => samples.length + tail.length + PAUSE;
