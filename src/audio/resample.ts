// The same sound at another sample rate: each sample is read off a curve through those around it (a windowed sinc).

/** Zeros of the curve on either side, at the lower of both rates. */
const REACH = 16;

/** From and to: Hz. */
export function resample(samples: Float32Array, from: number, to: number): Float32Array {
  if (from === to) return samples;
  const divisor = greatestDivisor(from, to);
  const [step, phases] = [from / divisor, to / divisor];
  // Going down, what the new rate cannot hold is left out.
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

/** The weights of the `2 * half` samples around a place between two of them, `fraction` behind the first. */
function curve(fraction: number, half: number, scale: number): Float64Array {
  return Float64Array.from({ length: 2 * half }, (_, at) => {
    const distance = at - half + 1 - fraction;
    const window = 0.5 + 0.5 * Math.cos((Math.PI * distance) / half);
    return Math.abs(distance) >= half ? 0 : scale * sinc(distance * scale) * window;
  });
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));
