// Makes sound from the network's predictions, after hibari's dsp.py: for every 12.5 ms the sum of three spectra, of
// which one shapes pulses at the voice's pitch, one shapes noise, and one has phases of its own.

import { Fourier, type Complex } from "../../../audio/fourier.ts";
import { SPEECH_RATE } from "../../../domain/speech.ts";

const WINDOW = 1200;
const HOP = 300;
const BINS = WINDOW / 2 + 1;
/** Hz at or below which a frame is unvoiced, and above which there are no harmonics. */
const LOWEST_PITCH = 40;
const HIGHEST_HARMONIC = 11_000;
/** Upper limit of exponents. */
const HIGHEST_EXPONENT = 7;

/** The network's outputs: each has `BINS` rows with a value per frame, except the pitch. */
export interface Frames {
  /** Logarithm of the harmonics' magnitude; their phase shift before tanh, in half turns. */
  readonly lh: Float32Array;
  readonly theta: Float32Array;
  /** Logarithm of the noise's magnitude. */
  readonly ln: Float32Array;
  /** Logarithm of the rest's magnitude; its phase. */
  readonly lr: Float32Array;
  readonly phi: Float32Array;
  /** Pitch in Hz, a value per frame. */
  readonly f0: Float32Array;
}

/** Returns numbers from a standard normal distribution. */
export type Normal = () => number;

export class Vocoder {
  private readonly fourier = new Fourier(WINDOW);
  private readonly window = Float64Array.from(
    { length: WINDOW },
    (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / WINDOW),
  );
  private readonly row: Complex = { re: new Float64Array(WINDOW), im: new Float64Array(WINDOW) };
  /** Spectra of two consecutive frames, which share one transform in each direction. */
  private readonly even: Complex = { re: new Float64Array(BINS), im: new Float64Array(BINS) };
  private readonly odd: Complex = { re: new Float64Array(BINS), im: new Float64Array(BINS) };

  /** Returns samples from about -1 to 1. */
  synthesize(frames: Frames, normal: Normal): Float32Array {
    const count = frames.f0.length;
    const source = padded(pulses(frames.f0), WINDOW / 2);
    const sum = new Float64Array((count - 1) * HOP + WINDOW);
    const weight = new Float64Array(sum.length);
    for (let frame = 0; frame < count; frame += 2) {
      this.analyse(source, frame, count);
      this.shape(this.even, frames, frame, count, normal);
      if (frame + 1 < count) this.shape(this.odd, frames, frame + 1, count, normal);
      this.overlap(sum, weight, frame, count);
    }
    return Float32Array.from({ length: count * HOP }, (_, at) => {
      const from = at + WINDOW / 2;
      return (sum[from] ?? 0) / Math.max(weight[from] ?? 0, 1e-11);
    });
  }

  /** Computes the spectra of the pulses in two frames: one as the real part, one as the imaginary part. */
  private analyse(source: Float64Array, frame: number, count: number): void {
    const { row, window, even, odd } = this;
    const isPair = frame + 1 < count;
    // This scale makes a cosine's magnitude its amplitude.
    const scale = 4 / WINDOW;
    for (let i = 0; i < WINDOW; i++) {
      const factor = (window[i] as number) * scale;
      const at = frame * HOP + i;
      row.re[i] = (source[at] as number) * factor;
      row.im[i] = isPair ? (source[at + HOP] as number) * factor : 0;
    }
    this.fourier.forward(row);
    for (let bin = 0; bin < BINS; bin++) {
      const mirror = (WINDOW - bin) % WINDOW;
      const re = row.re[bin] as number;
      const im = row.im[bin] as number;
      const mirrorRe = row.re[mirror] as number;
      const mirrorIm = row.im[mirror] as number;
      even.re[bin] = (re + mirrorRe) / 2;
      even.im[bin] = (im - mirrorIm) / 2;
      odd.re[bin] = (im + mirrorIm) / 2;
      odd.im[bin] = (mirrorRe - re) / 2;
    }
  }

  private shape({ re, im }: Complex, frames: Frames, frame: number, count: number, normal: Normal): void {
    for (let bin = 0, at = frame; bin < BINS; bin++, at += count) {
      const harmonics = magnitude(frames.lh[at] as number);
      const turn = Math.PI * Math.tanh(frames.theta[at] as number);
      const c = harmonics * Math.cos(turn);
      const s = harmonics * Math.sin(turn);
      const noise = magnitude(frames.ln[at] as number);
      const rest = magnitude(frames.lr[at] as number);
      const phase = frames.phi[at] as number;
      const pulseRe = re[bin] as number;
      const pulseIm = im[bin] as number;
      re[bin] = pulseRe * c - pulseIm * s + noise * normal() + rest * Math.cos(phase);
      im[bin] = pulseRe * s + pulseIm * c + noise * normal() + rest * Math.sin(phase);
    }
    // The spectrum of a real signal has no phase at its lowest and highest frequency.
    im[0] = im[BINS - 1] = 0;
  }

  /** Adds the sound of both spectra at the places of their frames. */
  private overlap(sum: Float64Array, weight: Float64Array, frame: number, count: number): void {
    const { row, window, even, odd } = this;
    const isPair = frame + 1 < count;
    for (let bin = 0; bin < BINS; bin++) {
      const mirror = (WINDOW - bin) % WINDOW;
      const re = even.re[bin] as number;
      const im = even.im[bin] as number;
      const [otherRe, otherIm] = isPair ? [odd.re[bin] as number, odd.im[bin] as number] : [0, 0];
      row.re[bin] = re - otherIm;
      row.im[bin] = im + otherRe;
      row.re[mirror] = re + otherIm;
      row.im[mirror] = otherRe - im;
    }
    this.fourier.inverse(row);
    const add = (part: Float64Array, start: number) => {
      for (let i = 0; i < WINDOW; i++) {
        const factor = window[i] as number;
        sum[start + i] = (sum[start + i] as number) + ((part[i] as number) * factor) / WINDOW;
        weight[start + i] = (weight[start + i] as number) + factor * factor;
      }
    };
    add(row.re, frame * HOP);
    if (isPair) add(row.im, (frame + 1) * HOP);
  }
}

const magnitude = (logarithm: number): number => Math.exp(Math.min(logarithm, HIGHEST_EXPONENT));

/** Returns all harmonics of the pitch at equal loudness, up to `HIGHEST_HARMONIC`. */
function pulses(f0: Float32Array): Float64Array {
  const result = new Float64Array(f0.length * HOP);
  let cycles = 0;
  for (let at = 0; at < result.length; at++) {
    const place = ((at % HOP) + 0.5) / HOP - 0.5;
    const frame = Math.floor(at / HOP);
    const here = f0[frame] as number;
    const other = f0[place < 0 ? Math.max(0, frame - 1) : Math.min(f0.length - 1, frame + 1)] as number;
    const pitch = here + (other - here) * Math.abs(place);
    cycles = (cycles + Math.max(pitch, LOWEST_PITCH) / SPEECH_RATE) % 1;
    if (pitch <= LOWEST_PITCH) continue;
    const angle = 2 * Math.PI * cycles;
    const order = Math.floor(HIGHEST_HARMONIC / pitch) + 0.5;
    const below = 2 * Math.sin(angle / 2);
    result[at] = (Math.abs(below) <= 2e-3 ? order : Math.sin(order * angle) / below) - 0.5;
  }
  return result;
}

/** Adds this many mirrored samples on both sides. */
function padded(samples: Float64Array, margin: number): Float64Array {
  const last = samples.length - 1;
  return Float64Array.from({ length: samples.length + 2 * margin }, (_, at) => {
    const place = Math.abs(at - margin) % Math.max(1, 2 * last);
    return samples[place > last ? 2 * last - place : place] ?? 0;
  });
}
