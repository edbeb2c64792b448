// Changes the duration of sound but not its pitch: overlaps pieces of it where they fit best (WSOLA).

/** Seconds between pieces. */
const HOP = 0.015;
/** Seconds to search: one period of the deepest voices. */
const REACH = 0.0125;
/** Samples between comparisons: every second sample of speech suffices. */
const STEP = 2;

/** `speed`: 2 plays in half the time. */
export function stretch(samples: Float32Array, speed: number, sampleRate: number): Float32Array {
  const hop = Math.round(HOP * sampleRate);
  const reach = Math.round(REACH * sampleRate);
  const window = Float32Array.from({ length: 2 * hop }, (_, at) => Math.sin((Math.PI * (at + 0.5)) / (2 * hop)) ** 2);
  // Silence at both ends, so that the pieces there are complete.
  const source = new Float32Array(samples.length + 4 * hop + 2 * reach);
  const lead = hop + reach;
  source.set(samples, lead);
  const length = Math.round(samples.length / speed);
  const target = new Float32Array(length + 3 * hop);
  const last = source.length - 2 * hop;
  let from = lead - hop;
  for (let at = 0; at < length + hop; at += hop) {
    if (at > 0) {
      // The new piece should sound like the continuation of the preceding one.
      const wanted = lead - hop + Math.round(at * speed);
      from = bestFit(source, Math.min(from + hop, last), Math.min(wanted, last - reach), reach, 2 * hop);
    }
    for (let i = 0; i < window.length; i++) {
      target[at + i] = (target[at + i] ?? 0) + (source[from + i] ?? 0) * (window[i] ?? 0);
    }
  }
  return target.slice(hop, hop + length);
}

/** Returns where, within `reach` of `near`, the source is most similar to itself at `model`. */
function bestFit(source: Float32Array, model: number, near: number, reach: number, length: number): number {
  let best = near;
  let most = -Infinity;
  for (let from = Math.max(0, near - reach); from <= near + reach; from += STEP) {
    let product = 0;
    let power = 1e-9;
    for (let i = 0; i < length; i += STEP) {
      const sample = source[from + i] ?? 0;
      product += sample * (source[model + i] ?? 0);
      power += sample * sample;
    }
    const likeness = product / Math.sqrt(power);
    if (likeness > most) [most, best] = [likeness, from];
  }
  return best;
}
