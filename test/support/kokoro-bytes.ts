// Builds a model with the inputs and output of Kokoro whose sound reveals its inputs. For `n` phonemes it returns 100
// samples each, all with the value `sum of the style + speed / 100`.

import { constant, FLOAT, INT64, model, node, value, type Field } from "./onnx-bytes.ts";

/** Returns the model file; `tokens` is the name of the first input. */
export function kokoroBytes(tokens = "tokens"): Uint8Array {
  const graph: Field[] = [
    node("Cast", [tokens], "numbers", { to: FLOAT }),
    node("Mul", ["numbers", "nothing"], "zeros"),
    node("ReduceSum", ["style"], "sum", { keepdims: 0 }),
    node("Mul", ["speed", "hundredth"], "pace"),
    node("Add", ["zeros", "sum"], "styled"),
    node("Add", ["styled", "pace"], "paced"),
    node("Tile", ["paced", "times"], "audio"),
    constant("nothing", FLOAT, Float32Array.of(0)),
    constant("hundredth", FLOAT, Float32Array.of(0.01)),
    constant("times", INT64, BigInt64Array.of(1n, 100n)),
    value(11, tokens, INT64, [1, "n"]),
    value(11, "style", FLOAT, [1, 256]),
    value(11, "speed", FLOAT, [1]),
    value(12, "audio", FLOAT, [1, "samples"]),
  ];
  return model("kokoro", graph);
}

/** Returns a voice whose style for `n` phonemes adds up to `n / 1000`. */
export function voiceBytes(): Uint8Array {
  const styles = new Float32Array(510 * 256);
  for (let at = 0; at < 510; at++) styles[at * 256] = (at + 1) / 1000;
  return new Uint8Array(styles.buffer);
}
