// Builds networks with the inputs and outputs of PP-OCR that respond to brightness alone.

import { constant, FLOAT, model, node, value, type Field } from "./onnx-bytes.ts";

const input = (name = "x"): Field => value(11, name, FLOAT, [1, 3, "height", "width"]);
const output = (shape: readonly (number | string)[]): Field => value(12, "found", FLOAT, shape);

/** Returns a detector that takes dark pixels for the middle of a line. */
export const finderBytes = (): Uint8Array =>
  model("finder", [
    node("ReduceMean", ["x"], "light", { axes: [1], keepdims: 1 }),
    node("Less", ["light", "middle"], "dark"),
    node("Cast", ["dark"], "found", { to: FLOAT }),
    constant("middle", FLOAT, Float32Array.of(0)),
    input(),
    output([1, 1, "height", "width"]),
  ]);

/** Returns a classifier that takes a line for upside down when it is darker at the top than at the bottom. */
export const directorBytes = (): Uint8Array =>
  model("director", [
    node("AveragePool", ["x"], "found", { kernel_shape: [40, 160], strides: [40, 160] }),
    input(),
    output([1, 3, "halves", "one"]),
  ]);

/**
 * Returns a recognizer that reads each block of eight columns by brightness, part of which is background: white is
 * nothing, grey is `a`, black is `b`.
 */
export const readerBytes = (): Uint8Array =>
  model("reader", [
    node("AveragePool", ["x"], "light", { kernel_shape: [48, 8], strides: [48, 8] }),
    node("Mul", ["light", "factors"], "scaled"),
    node("Add", ["scaled", "offsets"], "shifted"),
    node("Transpose", ["shifted"], "found", { perm: [0, 3, 2, 1] }),
    constant("factors", FLOAT, Float32Array.of(0, -1, -3), [1, 3, 1, 1]),
    constant("offsets", FLOAT, Float32Array.of(0, 0.7, 1.5), [1, 3, 1, 1]),
    input(),
    output([1, "steps", "one", 3]),
  ]);

export const CHARACTERS = "blank\na\nb\n";
