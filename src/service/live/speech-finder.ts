// Where somebody begins to speak in a stream, and falls silent, by the detector's probabilities: as whisper.cpp decides it in
// recordings, but without knowing what comes next.

/** Frames of speech, one after the other, by which it is told from a click. */
const LEAST_FRAMES = 3;
/** By how much the probability has to fall below the threshold for silence. */
const HYSTERESIS = 0.15;
const LEAST_PROBABILITY = 0.01;

export class SpeechFinder {
  /** Where the frames of speech began that may become an utterance. */
  private candidate = 0;
  private frames = 0;
  private speaking = false;
  private quiet: number | undefined;

  /** Where speech began, while somebody speaks. */
  get since(): number | undefined {
    return this.speaking ? this.candidate : undefined;
  }

  /** Where silence began behind it, while it lasts. */
  get quietSince(): number | undefined {
    return this.quiet;
  }

  /** Takes the next frame, which begins at this place. */
  push(probability: number, place: number, threshold: number): void {
    const isSpeech = probability >= threshold;
    if (this.speaking) {
      if (isSpeech) this.quiet = undefined;
      else if (probability < Math.max(threshold - HYSTERESIS, LEAST_PROBABILITY)) this.quiet ??= place;
      return;
    }
    if (!isSpeech) {
      this.frames = 0;
      return;
    }
    if (this.frames++ === 0) this.candidate = place;
    this.speaking = this.frames >= LEAST_FRAMES;
  }

  /** Nobody speaks, until it is heard again. */
  reset(): void {
    this.frames = 0;
    this.speaking = false;
    this.quiet = undefined;
  }
}
