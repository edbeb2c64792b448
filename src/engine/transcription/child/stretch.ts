// Phrases put together for the model: as much speech as it hears at once, without the silence in between, and the way back
// to the recording's times. What is between phrases is what whisper.cpp puts there.

import { joined, SAMPLE_RATE, type Phrase } from "./phrases.ts";

/** What the model hears at once. */
const LONGEST = 30 * SAMPLE_RATE;
/** Between two phrases. */
const PAUSE = SAMPLE_RATE / 10;

interface Part {
  /** Number of its first sample here, and in the recording. */
  readonly at: number;
  readonly start: number;
  readonly length: number;
}

export class Stretch {
  readonly samples: Float32Array;
  private readonly parts: readonly Part[];

  constructor(phrases: readonly Phrase[]) {
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
      if (index < phrases.length - 1) {
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

  /** The recording's time for a time in this stretch, both in seconds; between two phrases it is the end of the first. */
  original(seconds: number): number {
    const at = seconds * SAMPLE_RATE;
    const part = this.parts.findLast((one) => one.at <= at) ?? this.parts[0];
    if (!part) return seconds;
    return (part.start + Math.min(Math.max(at - part.at, 0), part.length)) / SAMPLE_RATE;
  }
}

/** Fills stretches with phrases, in their order. */
export class StretchBuilder {
  private phrases: Phrase[] = [];
  private length = 0;

  /** The stretch that is full, where the phrase has no room in it. */
  add(phrase: Phrase): Stretch | undefined {
    const length = phrase.samples.length + phrase.tail.length + PAUSE;
    const full = this.length > 0 && this.length + phrase.samples.length > LONGEST ? this.end() : undefined;
    this.phrases.push(phrase);
    this.length += length;
    return full;
  }

  /** What is left. */
  end(): Stretch | undefined {
    if (this.phrases.length === 0) return undefined;
    const stretch = new Stretch(this.phrases);
    this.phrases = [];
    this.length = 0;
    return stretch;
  }
}
