// Writes plain 16-bit little-endian samples, after a header if the format has one.

import { join, type Encoder } from "./encoder.ts";

export const BYTES_PER_SAMPLE = 2;
export const HIGHEST = 32_767;

/** Converts samples from -1 to 1 to 16-bit integers; clips louder ones. */
export function toInt16(samples: Float32Array): Int16Array {
  const integers = new Int16Array(samples.length);
  for (const [at, sample] of samples.entries()) {
    integers[at] = Math.round(Math.max(-1, Math.min(1, sample)) * HIGHEST);
  }
  return integers;
}

export class PcmEncoder implements Encoder {
  /** `head`: the first bytes of the file. */
  constructor(private head: Uint8Array = new Uint8Array()) {}

  push(samples: Float32Array): Uint8Array {
    // All processors that Bun runs on are little-endian.
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
