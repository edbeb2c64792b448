// The discrete Fourier transform of any length without large prime factors (Stockham's algorithm, without reordering).

/** A row of complex numbers. */
export interface Complex {
  readonly re: Float64Array;
  readonly im: Float64Array;
}

export class Fourier {
  private readonly radices: readonly number[];
  private readonly cos: Float64Array;
  private readonly sin: Float64Array;
  private readonly spare: Complex;

  constructor(readonly length: number) {
    this.radices = factors(length);
    this.cos = Float64Array.from({ length }, (_, at) => Math.cos((2 * Math.PI * at) / length));
    this.sin = Float64Array.from({ length }, (_, at) => -Math.sin((2 * Math.PI * at) / length));
    this.spare = { re: new Float64Array(length), im: new Float64Array(length) };
  }

  /** Transforms in place. */
  forward({ re, im }: Complex): void {
    let [from, to]: [Complex, Complex] = [{ re, im }, this.spare];
    for (let size = this.length, stage = 0; stage < this.radices.length; stage++) {
      const radix = this.radices[stage] ?? 1;
      this.step(from, to, size, radix);
      [from, to, size] = [to, from, size / radix];
    }
    if (from.re === re) return;
    re.set(from.re);
    im.set(from.im);
  }

  /** Inverts `forward` in place; values come out larger by the factor `length`. */
  inverse({ re, im }: Complex): void {
    this.forward({ re: im, im: re });
  }

  /** Splits every transform of `size` into `radix` transforms of `size / radix`. */
  private step(from: Complex, to: Complex, size: number, radix: number): void {
    const { length, cos, sin } = this;
    const stride = length / size;
    const part = size / radix;
    const turn = length / radix;
    for (let p = 0; p < part; p++) {
      for (let j = 0; j < radix; j++) {
        const twiddle = (j * p * stride) % length;
        const tr = cos[twiddle] as number;
        const ti = sin[twiddle] as number;
        const target = stride * (radix * p + j);
        const bend = j * turn;
        for (let q = 0; q < stride; q++) {
          let sumRe = 0;
          let sumIm = 0;
          for (let k = 0, at = q + stride * p, angle = 0; k < radix; k++, at += stride * part, angle += bend) {
            if (angle >= length) angle -= length;
            // Destructuring an array here would take most of the time.
            const re = from.re[at] as number;
            const im = from.im[at] as number;
            const c = cos[angle] as number;
            const s = sin[angle] as number;
            sumRe += re * c - im * s;
            sumIm += re * s + im * c;
          }
          to.re[target + q] = sumRe * tr - sumIm * ti;
          to.im[target + q] = sumRe * ti + sumIm * tr;
        }
      }
    }
  }
}

/** Returns the prime factors of a number, with pairs of twos as fours, which cost less. */
function factors(number: number): number[] {
  const found: number[] = [];
  let rest = number;
  for (let factor = 4; rest > 1; factor = factor === 4 ? 2 : factor === 3 ? 5 : factor + 1) {
    for (; rest % factor === 0; rest /= factor) found.push(factor);
  }
  return found;
}
