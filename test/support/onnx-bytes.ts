// Builds minimal ONNX models from a few nodes.

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];

type Value = number | string | Uint8Array | readonly Field[];
export type Field = readonly [number: number, value: Value];

/** Encodes a Protocol Buffers message. */
function message(fields: readonly Field[]): Uint8Array {
  const parts = fields.map(([number, value]) => {
    if (typeof value === "number") return Uint8Array.from([...varint(number * 8), ...varint(value)]);
    const bytes = typeof value === "string" ? Buffer.from(value) : value instanceof Uint8Array ? value : message(value);
    return Buffer.concat([Uint8Array.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
  });
  return Buffer.concat(parts);
}

export const FLOAT = 1;
export const INT64 = 7;

/** Returns a node. Attributes are integers or lists of integers. */
export function node(
  type: string,
  inputs: readonly string[],
  output: string,
  attributes: Readonly<Record<string, number | readonly number[]>> = {},
): Field {
  const given = Object.entries(attributes).map(([name, value]): Field => {
    const [field, kind] = typeof value === "number" ? [3, 2] : [8, 7];
    const numbers = [value].flat().map((one): Field => [field, one]);
    return [5, [[1, name], ...numbers, [20, kind]]];
  });
  return [1, [...inputs.map((name): Field => [1, name]), [2, output], [4, type], ...given]];
}

/** Returns a graph input (field 11) or output (field 12). Dimensions given by name can have any size. */
export function value(field: 11 | 12, name: string, type: number, shape: readonly (number | string)[]): Field {
  const dimensions = shape.map((size): Field => [1, [typeof size === "number" ? [1, size] : [2, size]]]);
  const tensor: Field[] = [
    [1, type],
    [2, dimensions],
  ];
  return [
    field,
    [
      [1, name],
      [2, [[1, tensor]]],
    ],
  ];
}

/** Returns a constant; without `shape` it has one dimension. */
export function constant(
  name: string,
  type: number,
  values: Float32Array | BigInt64Array,
  shape: readonly number[] = [values.length],
): Field {
  const sizes = shape.map((size): Field => [1, size]);
  return [5, [...sizes, [2, type], [8, name], [9, new Uint8Array(values.buffer)]]];
}

/** Returns the model file of a graph. */
export const model = (name: string, graph: readonly Field[]): Uint8Array =>
  message([
    [1, 9],
    [7, [...graph, [2, name]]],
    [
      8,
      [
        [1, ""],
        [2, 17],
      ],
    ],
  ]);
