// Finds the start and end of speech in a stream from the detector's probabilities, as is done in recordings, but
// without looking ahead.

/** Consecutive frames of speech needed to distinguish speech from a click. */
const LEAST_FRAMES = 3;
/** How far below the threshold the probability must fall to count as silence. */
const HYSTERESIS = 0.15;
const LEAST_PROBABILITY = 0.01;

export class SpeechFinder {
  /** Position where the silence after speech began; undefined unless it lasts. */
  quietSince: number | undefined;
  /** Position of the first frame of possible speech. */
  private candidate = 0;
  private frames = 0;
  private speaking = false;

  /** Position where the current speech began; undefined during silence. */
  get since(): number | undefined {
    return this.speaking ? this.candidate : undefined;
  }

  /** Processes the next frame, which begins at `place`. */
  push(probability: number, place: number, threshold: number): void {
    const isSpeech = probability >= threshold;
    if (this.speaking) {
      if (isSpeech) this.quietSince = undefined;
      else if (probability < Math.max(threshold - HYSTERESIS, LEAST_PROBABILITY)) this.quietSince ??= place;
      return;
    }
    if (!isSpeech) {
      this.frames = 0;
      return;
    }
    if (this.frames++ === 0) this.candidate = place;
    this.speaking = this.frames >= LEAST_FRAMES;
  }

  /** Forgets current speech and waits for new speech. */
  reset(): void {
    this.frames = 0;
    this.speaking = false;
    this.quietSince = undefined;
  }
}
