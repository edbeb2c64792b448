// Sound made longer or shorter at the same pitch: pieces of it are laid over each other where they fit best (WSOLA).

/** Seconds. */
const HOP = 0.015;
/** A period of the deepest voices. */
const REACH = 0.0125;
/** How finely fits are compared: every second sample of speech says enough. */
const STEP = 2;

/** `speed`: 2 plays in half the time. */
export function stretch(samples: Float32Array, speed: number, sampleRate: number): Float32Array {
  const hop = Math.round(HOP * sampleRate);
  const reach = Math.round(REACH * sampleRate);
  const window = Float32Array.from({ length: 2 * hop }, (_, at) => Math.sin((Math.PI * (at + 0.5)) / (2 * hop)) ** 2);
  // Silence around it, so that pieces at the ends are whole.
  const source = new Float32Array(samples.length + 4 * hop + 2 * reach);
  const lead = hop + reach;
  source.set(samples, lead);
  const length = Math.round(samples.length / speed);
  const target = new Float32Array(length + 3 * hop);
  const last = source.length - 2 * hop;
  let from = lead - hop;
  for (let at = 0; at < length + hop; at += hop) {
    if (at > 0) {
      // What followed the piece before is what should sound now.
      const wanted = lead - hop + Math.round(at * speed);
      from = bestFit(source, Math.min(from + hop, last), Math.min(wanted, last - reach), reach, 2 * hop);
    }
    for (let i = 0; i < window.length; i++) {
      target[at + i] = (target[at + i] ?? 0) + (source[from + i] ?? 0) * (window[i] ?? 0);
    }
  }
  return target.slice(hop, hop + length);
}

/** Where, at most `reach` from `near`, the source is most like itself at `model`. */
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
