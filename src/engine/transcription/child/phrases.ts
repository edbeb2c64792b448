// Finds where someone speaks in a recording that is read piece by piece.

import type { Span } from "../../../../ffi/whisper/api.ts";
import { SAMPLE_RATE } from "../../../audio/decode/sound-tools.ts";

/** Samples that are searched at once: few enough not to delay other work, and as many as the model hears at once. */
const PIECE = 30 * SAMPLE_RATE;
/**
 * Seconds around speech that are recognised with it. Without a moment of silence first, the model takes a sentence for
 * a continuation: it starts with a lower-case letter and guesses the first word.
 */
export const AROUND_SPEECH_SECONDS = 0.3;
/** Samples after a phrase that still belong to it, because a last sound fades out. */
const TAIL = SAMPLE_RATE / 10;
/** Seconds of speech that the detector may overlook at the end of what it hears: it takes less for a click. */
const OVERLOOKED_SECONDS = 0.4;
/** Speech without a pause may be cut from here on, in the last ten seconds of a piece. */
const LEAST_CUT = 20 * SAMPLE_RATE;
/**
 * Frames of a hundredth of a second, in which the place of a cut is searched. Even between fast sentences a quarter of
 * a second (`WIDE`) is quieter than inside a word; the cut is at the quietest moment (`NARROW`) of that.
 */
const FRAME = SAMPLE_RATE / 100;
const WIDE = 25;
const NARROW = 5;

export interface Phrase {
  /** Index of its first sample in the recording. */
  readonly start: number;
  readonly samples: Float32Array;
  /** The samples that follow, at most a tenth of a second. */
  readonly tail: Float32Array;
}

/** Takes a recording in pieces of any length and returns its phrases. */
export class PhraseFinder {
  private pending: Float32Array = new Float32Array();
  /** Index of the first pending sample in the recording. */
  private at = 0;

  /**
   * `findSpeech` finds speech in at most half a minute, with `aroundSeconds` around it; without it everything counts
   * as speech.
   */
  constructor(
    private readonly findSpeech: ((samples: Float32Array) => readonly Span[]) | undefined,
    private readonly aroundSeconds: number = AROUND_SPEECH_SECONDS,
  ) {}

  /** How many samples were received so far. */
  get length(): number {
    return this.at + this.pending.length;
  }

  /** How many samples have been divided into phrases. */
  get heard(): number {
    return this.at;
  }

  /** How many samples it can take before it searches for speech again. */
  get room(): number {
    return PIECE - this.pending.length;
  }

  /** Adds samples; returns the phrases that are now known to have ended. */
  push(samples: Float32Array): Phrase[] {
    const phrases: Phrase[] = [];
    for (let from = 0; from < samples.length;) {
      const taken = samples.subarray(from, from + this.room);
      from += taken.length;
      this.pending = joined([this.pending, taken]);
      if (this.room === 0) phrases.push(...this.take(false));
    }
    return phrases;
  }

  /** Returns the remaining phrases: the recording has ended. */
  end(): Phrase[] {
    return this.pending.length === 0 ? [] : this.take(true);
  }

  private take(isLast: boolean): Phrase[] {
    const { pending, at } = this;
    const spans = [...(this.findSpeech?.(pending) ?? [{ start: 0, end: pending.length }])];
    const last = spans.at(-1);
    // What may belong to a phrase that begins at the end, or after it, is searched again with what follows.
    const unclear = Math.round((OVERLOOKED_SECONDS + this.aroundSeconds) * SAMPLE_RATE);
    let kept = isLast ? pending.length : pending.length - unclear;
    // So is the last phrase if it may continue, or it is cut if it fills the piece.
    if (!isLast && last && last.end > kept) {
      spans.pop();
      kept = last.start > TAIL ? last.start : quietest(pending);
      if (last.start <= TAIL) spans.push({ start: last.start, end: kept });
    }
    this.pending = pending.slice(kept);
    this.at = at + kept;
    return spans.map(({ start, end }) => ({
      start: at + start,
      samples: pending.slice(start, end),
      tail: pending.slice(end, Math.min(end + TAIL, kept - 1)),
    }));
  }
}

/** Returns the middle of the quietest moment in the quietest part of a piece's end. */
function quietest(samples: Float32Array): number {
  const frames = Array.from({ length: Math.floor((samples.length - LEAST_CUT) / FRAME) }, (_, index) => {
    const from = LEAST_CUT + index * FRAME;
    let energy = 0;
    for (let at = from; at < from + FRAME; at++) energy += (samples[at] ?? 0) ** 2;
    return energy;
  });
  const part = quietestRun(frames, WIDE);
  const moment = part + quietestRun(frames.slice(part, part + WIDE), NARROW);
  return LEAST_CUT + Math.round((moment + NARROW / 2) * FRAME);
}

/** Returns where the quietest run of this many frames begins; of equal ones the last. */
function quietestRun(frames: readonly number[], width: number): number {
  let [least, found] = [Infinity, 0];
  for (let first = 0; first + width <= frames.length; first++) {
    const energy = frames.slice(first, first + width).reduce((sum, one) => sum + one, 0);
    if (energy <= least) [least, found] = [energy, first];
  }
  return found;
}

/** Returns the parts one after another. */
export function joined(parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
