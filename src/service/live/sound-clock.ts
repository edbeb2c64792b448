// Places in a stream of sound, which are bytes, and times.

import { FRAME_SECONDS, type RawFormat } from "../../domain/transcription.ts";

const SAMPLE_BYTES: Readonly<Record<RawFormat["encoding"], number>> = { pcm16: 2, ulaw: 1, alaw: 1 };

export class SoundClock {
  /** Bytes of a sample, and of a frame. */
  readonly sample: number;
  readonly frame: number;
  private readonly second: number;

  constructor({ encoding, rate }: RawFormat) {
    this.sample = SAMPLE_BYTES[encoding];
    this.second = this.sample * rate;
    this.frame = Math.round(this.second * FRAME_SECONDS);
  }

  /** As many bytes as so many seconds have, in whole samples. */
  bytes(seconds: number): number {
    return Math.round((seconds * this.second) / this.sample) * this.sample;
  }

  seconds(bytes: number): number {
    return bytes / this.second;
  }

  /** Whole milliseconds. */
  ms(bytes: number): number {
    return Math.round(1000 * this.seconds(bytes));
  }
}
