// The interface and helpers of all encoders.

/** Encodes one channel of sound, piece by piece, as a file. */
export interface Encoder {
  /** Returns what is ready of the file after these samples, from -1 to 1 (louder ones are clipped); may be empty. */
  push(samples: Float32Array): Uint8Array;
  /** Returns the rest of the file. Nothing can follow. */
  finish(): Uint8Array;
}

/** First bytes of a file, which contain all that `complete` fills in. */
export const HEAD_BYTES = 68;

export interface AudioFormat {
  /** Creates an encoder for samples at SPEECH_RATE. */
  make(): Promise<Encoder>;
  /** The file is sent only when complete, since few programs read this format with an open length. */
  readonly isWhole?: true;
  /** Fills in what is unknown before the end, in the first HEAD_BYTES of the file; a stream leaves it open. */
  complete?(head: Uint8Array, samples: number): void;
}

/** Returns an encoder of a file that begins with `head` and goes on as `encoder` writes it. */
export function withHead(head: Uint8Array, encoder: Encoder): Encoder {
  const heads = [head];
  const after = (bytes: Uint8Array) => join([...heads.splice(0), bytes]);
  return { push: (samples) => after(encoder.push(samples)), finish: () => after(encoder.finish()) };
}

/** Divides sound that arrives piece by piece into blocks of equal length. */
export class Blocks {
  /** Samples of the incomplete block. */
  begun = new Float32Array();

  constructor(private readonly length: number) {}

  /** Returns the blocks that these samples complete. */
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

  /** Returns the incomplete block, filled up with silence; a block of silence if there is none. */
  withSilence(): Float32Array[] {
    return this.with(new Float32Array(this.length - this.begun.length));
  }
}

/** Concatenates the parts. */
export function join(parts: readonly Uint8Array[]): Uint8Array {
  const [first, ...others] = parts;
  return first && others.length === 0 ? first : Buffer.concat(parts);
}
