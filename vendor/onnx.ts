// Reads the weights of an ONNX file, which is a protobuf message: the graph in field 7, its tensors in field 5.

import { readFileSync } from "node:fs";
import { BuildError } from "./run.ts";

const FLOAT = 1;

interface Field {
  readonly number: number;
  readonly value: number;
  readonly bytes: Uint8Array;
}

/** Returns the single-precision tensors of the file at `path` by name, in file order. Throws BuildError. */
export function readOnnxWeights(path: string): Map<string, Float32Array> {
  const graph = fields(readFileSync(path)).find(({ number }) => number === 7);
  if (graph === undefined) throw new BuildError(`${path} has no graph.`);
  const tensors = fields(graph.bytes).filter(({ number }) => number === 5);
  return new Map(
    tensors.flatMap(({ bytes }): [string, Float32Array][] => {
      const tensor = fields(bytes);
      const field = (wanted: number) => tensor.find(({ number }) => number === wanted);
      const [type, name, raw] = [field(2)?.value, field(8)?.bytes, field(9)?.bytes];
      if (type !== FLOAT || name === undefined || raw === undefined) return [];
      // A copy, because its address is aligned for numbers.
      return [[new TextDecoder().decode(name), new Float32Array(new Uint8Array(raw).buffer)]];
    }),
  );
}

function fields(message: Uint8Array): Field[] {
  const result: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = message[at++];
      if (byte === undefined) throw new BuildError("an ONNX file ends too early.");
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const kind = tag & 7;
    const value = kind === 0 ? varint() : 0;
    const length = kind === 2 ? varint() : { 0: 0, 1: 8, 5: 4 }[kind];
    if (length === undefined) throw new BuildError("an ONNX file has a field of an unknown kind.");
    result.push({ number: tag >> 3, value, bytes: message.subarray(at, at + length) });
    at += length;
  }
  return result;
}
