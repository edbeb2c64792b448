// Converts sound to another sample rate with a windowed sinc: each new sample is a weighted sum of those around it.

/** Zeros of the sinc on either side, at the lower of both rates. */
const REACH = 16;

/** `from` and `to` in Hz. */
export function resample(samples: Float32Array, from: number, to: number): Float32Array {
  if (from === to) return samples;
  const divisor = greatestDivisor(from, to);
  const [step, phases] = [from / divisor, to / divisor];
  // To a lower rate, frequencies that it cannot represent are filtered out.
  const scale = Math.min(1, to / from);
  const half = Math.ceil(REACH / scale);
  const curves = Array.from({ length: phases }, (_, phase) => curve(phase / phases, half, scale));
  return Float32Array.from({ length: Math.floor((samples.length * to) / from) }, (_, at) => {
    const place = at * step;
    const first = Math.floor(place / phases) - half + 1;
    const weights = curves[place % phases] as Float64Array;
    let sum = 0;
    for (let i = 0; i < weights.length; i++) sum += (samples[first + i] ?? 0) * (weights[i] as number);
    return sum;
  });
}

/** Returns the weights of the `2 * half` samples around a position that is `fraction` behind a sample. */
function curve(fraction: number, half: number, scale: number): Float64Array {
  return Float64Array.from({ length: 2 * half }, (_, at) => {
    const distance = at - half + 1 - fraction;
    const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / half);
    return Math.abs(distance) >= half ? 0 : scale * sinc(distance * scale) * window;
  });
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));
