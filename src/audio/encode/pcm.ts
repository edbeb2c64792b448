// Samples as they are, of 16 bits, the lesser byte first; behind a head where the format has one.

import { join, type Encoder } from "./encoder.ts";

export const BYTES_PER_SAMPLE = 2;
export const HIGHEST = 32_767;

/** Samples from -1 to 1 as integers of 16 bits; what is louder is clipped. */
export function toInt16(samples: Float32Array): Int16Array {
  const integers = new Int16Array(samples.length);
  for (const [at, sample] of samples.entries()) {
    integers[at] = Math.round(Math.max(-1, Math.min(1, sample)) * HIGHEST);
  }
  return integers;
}

export class PcmEncoder implements Encoder {
  /** `head`: what the file begins with. */
  constructor(private head: Uint8Array = new Uint8Array()) {}

  push(samples: Float32Array): Uint8Array {
    // All processors that Bun runs on have the lesser byte first.
    return this.behindHead(new Uint8Array(toInt16(samples).buffer));
  }

  finish(): Uint8Array {
    return this.behindHead(new Uint8Array());
  }

  private behindHead(bytes: Uint8Array): Uint8Array {
    const { head } = this;
    if (head.length === 0) return bytes;
    this.head = new Uint8Array();
    return join([head, bytes]);
  }
}
