// Writes GGUF version 3 files: metadata and tensor table first, then the tensors in order, streamed so that a model of
// any size needs little memory.

import { closeSync, openSync, writeSync } from "node:fs";
import { q8Bytes } from "./quantize.ts";

export type GgufValue =
  | { readonly type: "u32"; readonly value: number }
  | { readonly type: "f32"; readonly value: number }
  | { readonly type: "bool"; readonly value: boolean }
  | { readonly type: "string"; readonly value: string }
  | { readonly type: "strings"; readonly value: readonly string[] }
  | { readonly type: "i32s"; readonly value: readonly number[] }
  | { readonly type: "f32s"; readonly value: readonly number[] };

export type TensorType = "f32" | "q8_0";

export interface TensorPlan {
  readonly name: string;
  readonly type: TensorType;
  /** Elements per row (the fastest dimension). */
  readonly columns: number;
  /** 1 for a vector. */
  readonly rows: number;
  /** Sizes of a tensor with more than two dimensions, the fastest first; their product is columns · rows. */
  readonly dimensions?: readonly number[];
  /** Fills `rowCount` encoded rows of this tensor, starting at row `firstRow`. */
  readonly fill: (bytes: Uint8Array, firstRow: number, rowCount: number) => void;
}

const ALIGNMENT = 32;
const VALUE_TYPE = { u32: 4, f32: 6, bool: 7, string: 8, strings: 9, i32s: 9, f32s: 9 } as const;
const TENSOR_TYPE = { f32: 0, q8_0: 8 } as const;
const CHUNK_BYTES = 8 << 20;

/** Bytes of one encoded row. */
export const rowBytes = (type: TensorType, columns: number): number =>
  type === "f32" ? columns * 4 : q8Bytes(columns);

/** Writes the whole file at `path`, replacing what is there. */
export function writeGguf(
  path: string,
  metadata: Readonly<Record<string, GgufValue>>,
  tensors: readonly TensorPlan[],
): void {
  const file = openSync(path, "w");
  try {
    const header = encodeHeader(metadata, tensors);
    writeSync(file, header);
    writePadding(file, header.length);
    for (const tensor of tensors) writeTensor(file, tensor);
  } finally {
    closeSync(file);
  }
}

function writeTensor(file: number, tensor: TensorPlan): void {
  const bytes = rowBytes(tensor.type, tensor.columns);
  const rowsAtOnce = Math.max(1, Math.min(tensor.rows, Math.floor(CHUNK_BYTES / bytes)));
  const buffer = new Uint8Array(rowsAtOnce * bytes);
  for (let row = 0; row < tensor.rows; row += rowsAtOnce) {
    const count = Math.min(rowsAtOnce, tensor.rows - row);
    const part = buffer.subarray(0, count * bytes);
    tensor.fill(part, row, count);
    writeSync(file, part);
  }
  writePadding(file, tensor.rows * bytes);
}

function writePadding(file: number, written: number): void {
  const padding = padded(written) - written;
  if (padding > 0) writeSync(file, new Uint8Array(padding));
}

const padded = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

function encodeHeader(metadata: Readonly<Record<string, GgufValue>>, tensors: readonly TensorPlan[]): Buffer {
  const parts: Buffer[] = [];
  const numbers = (array: ArrayBufferView<ArrayBuffer>) => void parts.push(Buffer.from(array.buffer));
  const u32 = (value: number) => numbers(Uint32Array.of(value));
  const u64 = (value: number) => numbers(BigUint64Array.of(BigInt(value)));
  const string = (value: string) => {
    const bytes = Buffer.from(value);
    u64(bytes.length);
    parts.push(bytes);
  };
  const value = (entry: GgufValue) => {
    u32(VALUE_TYPE[entry.type]);
    if (entry.type === "u32") u32(entry.value);
    else if (entry.type === "f32") numbers(Float32Array.of(entry.value));
    else if (entry.type === "bool") parts.push(Buffer.from([entry.value ? 1 : 0]));
    else if (entry.type === "string") string(entry.value);
    else if (entry.type === "strings") {
      u32(VALUE_TYPE.string);
      u64(entry.value.length);
      entry.value.forEach(string);
    } else {
      const isFloat = entry.type === "f32s";
      u32(isFloat ? VALUE_TYPE.f32 : 5);
      u64(entry.value.length);
      numbers((isFloat ? Float32Array : Int32Array).from(entry.value));
    }
  };

  parts.push(Buffer.from("GGUF"));
  u32(3);
  u64(tensors.length);
  u64(Object.keys(metadata).length);
  for (const [key, entry] of Object.entries(metadata)) {
    string(key);
    value(entry);
  }
  let offset = 0;
  for (const tensor of tensors) {
    string(tensor.name);
    const { columns, rows } = tensor;
    const dimensions = tensor.dimensions ?? (rows === 1 ? [columns] : [columns, rows]);
    u32(dimensions.length);
    dimensions.forEach(u64);
    u32(TENSOR_TYPE[tensor.type]);
    u64(offset);
    offset += padded(tensor.rows * rowBytes(tensor.type, tensor.columns));
  }
  return Buffer.concat(parts);
}
