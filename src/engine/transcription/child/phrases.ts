// Where somebody speaks in a recording that is read piece by piece.

import { SAMPLE_RATE } from "../../../audio/decode/tools.ts";

/** Samples that are listened to at once: short enough not to hold up others, and as much as the model hears at once. */
const PIECE = 30 * SAMPLE_RATE;
/**
 * What is around speech and goes with it. Without a moment of silence before it the model takes a sentence for the rest of one:
 * it writes a small letter first, and guesses at the first word.
 */
export const AROUND_SPEECH_SECONDS = 0.3;
/** What is behind a phrase and still goes with it: a last sound fades. */
const TAIL = SAMPLE_RATE / 10;
/** Where speech without a pause may be cut: in its last ten seconds. */
const LEAST_CUT = 20 * SAMPLE_RATE;
/**
 * What is compared there, in hundredths of a second: between two sentences, however fast they follow, a quarter of a second is
 * quieter than in a word, and that has a quietest moment.
 */
const FRAME = SAMPLE_RATE / 100;
const WIDE = 25;
const NARROW = 5;

/** A stretch of samples, from the first of those that were listened to. */
export interface Span {
  readonly start: number;
  /** The one behind it. */
  readonly end: number;
}

export interface Phrase {
  /** Number of its first sample in the recording. */
  readonly start: number;
  readonly samples: Float32Array;
  /** What follows, a tenth of a second at most. */
  readonly tail: Float32Array;
}

/** Takes a recording in any pieces; gives its phrases. */
export class PhraseFinder {
  private pending: Float32Array = new Float32Array();
  /** Number of the first pending sample in the recording. */
  private at = 0;

  /** `listen` finds speech in at most half a minute; without it everything counts as speech. */
  constructor(private readonly listen: ((samples: Float32Array) => readonly Span[]) | undefined) {}

  /** Samples that came so far. */
  get length(): number {
    return this.at + this.pending.length;
  }

  /** Samples whose phrases are known. */
  get heard(): number {
    return this.at;
  }

  /** How many samples it takes before it listens again. */
  get room(): number {
    return PIECE - this.pending.length;
  }

  /** The phrases that are known to end by now. */
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

  /** The rest: the recording has ended. */
  end(): Phrase[] {
    return this.pending.length === 0 ? [] : this.take(true);
  }

  private take(isLast: boolean): Phrase[] {
    const { pending, at } = this;
    const spans = [...(this.listen?.(pending) ?? [{ start: 0, end: pending.length }])];
    const last = spans.at(-1);
    let kept = pending.length;
    // It may go on: it is listened to again with what follows, or cut if it fills all there is room for.
    if (!isLast && last && last.end >= pending.length - TAIL) {
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

/** The middle of the quietest moment in the quietest part of a piece's end. */
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

/** Where so many frames begin that are the quietest; of equals, the last. */
function quietestRun(frames: readonly number[], width: number): number {
  let [least, found] = [Infinity, 0];
  for (let first = 0; first + width <= frames.length; first++) {
    const energy = frames.slice(first, first + width).reduce((sum, one) => sum + one, 0);
    if (energy <= least) [least, found] = [energy, first];
  }
  return found;
}

/** One after the other. */
export function joined(parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
