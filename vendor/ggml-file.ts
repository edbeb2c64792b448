// Writes the files that whisper.cpp reads: a header specific to the model, then each tensor with its name and size.

import { q8Bytes, quantizeQ8 } from "./quantize.ts";

export type GgmlType = "f32" | "f16" | "q8_0";

export interface GgmlTensor {
  readonly name: string;
  readonly type: GgmlType;
  /** The slowest dimension first; none for a single number. */
  readonly shape: readonly number[];
  readonly values: Float32Array | Float16Array;
}

const MAGIC = 0x67676d6c;
const TENSOR_TYPE = { f32: 0, f16: 1, q8_0: 8 } as const;

export const i32s = (...values: readonly number[]): Uint8Array => bytesOf(Int32Array.from(values));

/** Returns the bytes of a text or token, preceded by their number. */
export const counted = (bytes: Uint8Array): readonly Uint8Array[] => [i32s(bytes.length), bytes];

/** Returns the whole file: a model's header and its tensors. */
export const ggmlFile = (header: readonly Uint8Array[], tensors: readonly GgmlTensor[]): Buffer =>
  Buffer.concat([i32s(MAGIC), ...header, ...tensors.flatMap(encode)]);

export const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);

function encode({ name, type, shape, values }: GgmlTensor): Uint8Array[] {
  const label = Buffer.from(name);
  const head = i32s(shape.length, label.length, TENSOR_TYPE[type], ...shape.toReversed());
  return [head, label, content(type, values)];
}

function content(type: GgmlType, values: Float32Array | Float16Array): Uint8Array {
  if (type === "f16") return bytesOf(Float16Array.from(values));
  const exact = Float32Array.from(values);
  if (type === "f32") return bytesOf(exact);
  const bytes = new Uint8Array(q8Bytes(values.length));
  quantizeQ8(exact, bytes);
  return bytes;
}
