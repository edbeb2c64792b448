// The embedded voice's model: ONNX Runtime predicts spectra from phonemes, and the vocoder turns them into sound.

import { Tensor, type InferenceSession } from "onnxruntime-web/wasm";
import { messagesRead } from "../../process/client-turns.ts";
import { loadOnnx } from "../../process/onnx-session.ts";
import { sayAt } from "./own-speeds.ts";
import { Vocoder, type Frames, type Normal } from "./vocoder.ts";

/**
 * Speeds that the model produces itself, by the length of each phoneme. It was not trained for slower ones. When
 * faster, ever more phonemes reach the minimum of one frame, and speech gets no shorter (a speed of 4 gives 2.2).
 */
export const OWN_SPEEDS = { slowest: 0.5, fastest: 1.5 };
/** Any phonemes, with the padding around them. */
const A_WORD = [0, 1, 2, 3, 0];
/** Any number; constant, so that the same text always sounds the same. */
const SEED = 0x5eed;

export class AcousticModel {
  private readonly vocoder = new Vocoder();

  private constructor(private readonly session: InferenceSession) {}

  /** Loads an ONNX file. Throws when it is invalid or cannot speak a word. */
  static async load(file: Uint8Array): Promise<AcousticModel> {
    const model = new AcousticModel(await loadOnnx(file));
    // A damaged file may load and yet compute nothing: better to fail now, with the file's name, than for each request.
    await model.speak(A_WORD, 1);
    return model;
  }

  /** Speaks phonemes, given by number. `speed`: from 0.25 to 4, always at the same pitch. */
  speak(phonemes: readonly number[], speed: number): Promise<Float32Array> {
    return sayAt(speed, OWN_SPEEDS, async (given) => {
      const outputs = await this.session.run({
        ids: new Tensor("int64", BigInt64Array.from(phonemes, BigInt), [1, phonemes.length]),
        speed: new Tensor("float32", Float32Array.of(given), [1]),
      });
      // Computing blocks this thread: messages that arrived meanwhile are read before the vocoder runs.
      await messagesRead();
      return this.vocoder.synthesize(framesOf(outputs), normalNumbers(SEED));
    });
  }
}

function framesOf(outputs: InferenceSession.OnnxValueMapType): Frames {
  const output = (name: string): Float32Array => {
    const data = outputs[name]?.data;
    if (!(data instanceof Float32Array)) throw new Error(`the voice has no output ${name}`);
    return data;
  };
  return {
    lh: output("lh"),
    theta: output("theta"),
    ln: output("ln"),
    lr: output("lr"),
    phi: output("phi"),
    f0: output("f0"),
  };
}

/** Box-Muller transform, which makes two numbers at once, of Marsaglia's xorshift. */
function normalNumbers(seed: number): Normal {
  let state = seed;
  let other: number | undefined;
  const uniform = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return ((state >>> 0) + 0.5) / 2 ** 32;
  };
  return () => {
    if (other !== undefined) {
      const value = other;
      other = undefined;
      return value;
    }
    const radius = Math.sqrt(-2 * Math.log(uniform()));
    const angle = 2 * Math.PI * uniform();
    other = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  };
}
