// Changes the duration of speech but not its pitch: overlaps pieces of it where they fit best (WSOLA).

import { SPEECH_RATE } from "../domain/speech.ts";

/** Samples between pieces: 15 ms. */
const HOP = Math.round(0.015 * SPEECH_RATE);
/** Samples to search: one period of the deepest voices, 12.5 ms. */
const REACH = Math.round(0.0125 * SPEECH_RATE);
/** Samples between comparisons: every second sample of speech suffices. */
const STEP = 2;

/** `samples`: at SPEECH_RATE; `speed`: 2 plays in half the time. */
export function stretch(samples: Float32Array, speed: number): Float32Array {
  const window = Float32Array.from({ length: 2 * HOP }, (_, at) => Math.sin((Math.PI * (at + 0.5)) / (2 * HOP)) ** 2);
  // Silence at both ends, so that the pieces there are complete.
  const source = new Float32Array(samples.length + 4 * HOP + 2 * REACH);
  const lead = HOP + REACH;
  source.set(samples, lead);
  const length = Math.round(samples.length / speed);
  const target = new Float32Array(length + 3 * HOP);
  const last = source.length - 2 * HOP;
  let from = lead - HOP;
  for (let at = 0; at < length + HOP; at += HOP) {
    if (at > 0) {
      // The new piece should sound like the continuation of the preceding one.
      const wanted = lead - HOP + Math.round(at * speed);
      from = bestFit(source, Math.min(from + HOP, last), Math.min(wanted, last - REACH));
    }
    for (let i = 0; i < window.length; i++) {
      target[at + i] = (target[at + i] ?? 0) + (source[from + i] ?? 0) * (window[i] ?? 0);
    }
  }
  return target.slice(HOP, HOP + length);
}

/** Returns where, within REACH of `near`, the source is most similar to itself at `model`. */
function bestFit(source: Float32Array, model: number, near: number): number {
  let best = near;
  let most = -Infinity;
  for (let from = Math.max(0, near - REACH); from <= near + REACH; from += STEP) {
    let product = 0;
    let power = 1e-9;
    for (let i = 0; i < 2 * HOP; i += STEP) {
      const sample = source[from + i] ?? 0;
      product += sample * (source[model + i] ?? 0);
      power += sample * sample;
    }
    const likeness = product / Math.sqrt(power);
    if (likeness > most) [most, best] = [likeness, from];
  }
  return best;
}
