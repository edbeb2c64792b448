// Converts positions in a stream of sound between bytes and times.

import { FRAME_SECONDS, type RawFormat } from "../../domain/transcription.ts";

const SAMPLE_BYTES: Readonly<Record<RawFormat["encoding"], number>> = { pcm16: 2, ulaw: 1, alaw: 1 };

export class SoundClock {
  /** Bytes per sample, and per frame. */
  readonly sample: number;
  readonly frame: number;
  private readonly second: number;

  constructor({ encoding, rate }: RawFormat) {
    this.sample = SAMPLE_BYTES[encoding];
    this.second = this.sample * rate;
    this.frame = Math.round(this.second * FRAME_SECONDS);
  }

  /** Returns the bytes of `seconds` of sound, rounded to whole samples. */
  bytes(seconds: number): number {
    return Math.round((seconds * this.second) / this.sample) * this.sample;
  }

  seconds(bytes: number): number {
    return bytes / this.second;
  }

  /** Returns the duration in whole milliseconds. */
  ms(bytes: number): number {
    return Math.round(1000 * this.seconds(bytes));
  }
}
