// What all encoders have in common.

/** Makes a file of one channel of sound that comes piece by piece. */
export interface Encoder {
  /** What is ready of the file after these samples, from -1 to 1 (louder ones are clipped); may be empty. */
  push(samples: Float32Array): Uint8Array;
  /** The rest of the file. Nothing can follow it. */
  finish(): Uint8Array;
}

/** As many have what `complete` fills in. */
export const HEAD_BYTES = 68;

export interface AudioFormat {
  /** An encoder for samples of this rate in Hz. */
  make(sampleRate: number): Promise<Encoder>;
  /** Few programs read a file whose head leaves its length open: it is sent when it is whole. */
  readonly isWhole?: true;
  /** Fills in what a stream leaves open, because it is not known before the end, in the first bytes of a file (HEAD_BYTES). */
  complete?(head: Uint8Array, samples: number): void;
}

/** One after the other. */
export function join(parts: readonly Uint8Array[]): Uint8Array {
  const [first, ...others] = parts;
  return first && others.length === 0 ? first : Buffer.concat(parts);
}
