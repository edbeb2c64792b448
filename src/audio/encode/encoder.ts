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

/** Cuts sound that comes piece by piece into blocks of one length. */
export class Blocks {
  /** Samples of the block that has begun. */
  begun = new Float32Array();

  constructor(private readonly length: number) {}

  /** Those that are complete with these samples. */
  with(samples: Float32Array): Float32Array[] {
    const all = new Float32Array(this.begun.length + samples.length);
    all.set(this.begun);
    all.set(samples, this.begun.length);
    const blocks: Float32Array[] = [];
    let at = 0;
    for (; at + this.length <= all.length; at += this.length) blocks.push(all.subarray(at, at + this.length));
    this.begun = all.slice(at);
    return blocks;
  }

  /** That which has begun, filled up with silence; a block of silence where none has. */
  withSilence(): Float32Array[] {
    return this.with(new Float32Array(this.length - this.begun.length));
  }
}

/** One after the other. */
export function join(parts: readonly Uint8Array[]): Uint8Array {
  const [first, ...others] = parts;
  return first && others.length === 0 ? first : Buffer.concat(parts);
}
