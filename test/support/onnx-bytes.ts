// A model in an ONNX file that is as small as can be, with the inputs and the output of Kokoro: what it "says" tells what it was
// given. For `n` phonemes it makes 100 samples each, all of the value `sum of the style + speed / 100`.

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];

type Value = number | string | Uint8Array | readonly Field[];
type Field = readonly [number: number, value: Value];

/** A message in the encoding of Protocol Buffers. */
function message(fields: readonly Field[]): Uint8Array {
  const parts = fields.map(([number, value]) => {
    if (typeof value === "number") return Uint8Array.from([...varint(number * 8), ...varint(value)]);
    const bytes = typeof value === "string" ? Buffer.from(value) : value instanceof Uint8Array ? value : message(value);
    return Buffer.concat([Uint8Array.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
  });
  return Buffer.concat(parts);
}

const FLOAT = 1;
const INT64 = 7;

const node = (
  type: string,
  inputs: readonly string[],
  output: string,
  attribute?: readonly [string, number],
): Field => [
  1,
  [
    ...inputs.map((name): Field => [1, name]),
    [2, output],
    [4, type],
    ...(attribute
      ? [
          [
            5,
            [
              [1, attribute[0]],
              [3, attribute[1]],
              [20, 2],
            ],
          ] satisfies Field,
        ]
      : []),
  ],
];

const value = (field: number, name: string, type: number, shape: readonly (number | string)[]): Field => {
  const dimensions = shape.map((size): Field => [1, [typeof size === "number" ? [1, size] : [2, size]]]);
  return [
    field,
    [
      [1, name],
      [
        2,
        [
          [
            1,
            [
              [1, type],
              [2, dimensions],
            ],
          ],
        ],
      ],
    ],
  ];
};

const constant = (name: string, type: number, values: Float32Array | BigInt64Array): Field => [
  5,
  [
    [1, values.length],
    [2, type],
    [8, name],
    [9, new Uint8Array(values.buffer)],
  ],
];

/** `tokens`: what the first input is called. */
export function kokoroBytes(tokens = "tokens"): Uint8Array {
  const graph: Field[] = [
    node("Cast", [tokens], "numbers", ["to", FLOAT]),
    node("Mul", ["numbers", "nothing"], "zeros"),
    node("ReduceSum", ["style"], "sum", ["keepdims", 0]),
    node("Mul", ["speed", "hundredth"], "pace"),
    node("Add", ["zeros", "sum"], "styled"),
    node("Add", ["styled", "pace"], "paced"),
    node("Tile", ["paced", "times"], "audio"),
    [2, "kokoro"],
    constant("nothing", FLOAT, Float32Array.of(0)),
    constant("hundredth", FLOAT, Float32Array.of(0.01)),
    constant("times", INT64, BigInt64Array.of(1n, 100n)),
    value(11, tokens, INT64, [1, "n"]),
    value(11, "style", FLOAT, [1, 256]),
    value(11, "speed", FLOAT, [1]),
    value(12, "audio", FLOAT, [1, "samples"]),
  ];
  return message([
    [1, 9],
    [7, graph],
    [
      8,
      [
        [1, ""],
        [2, 17],
      ],
    ],
  ]);
}

/** A voice whose style for `n` phonemes adds up to `n / 1000`. */
export function voiceBytes(): Uint8Array {
  const styles = new Float32Array(510 * 256);
  for (let at = 0; at < 510; at++) styles[at * 256] = (at + 1) / 1000;
  return new Uint8Array(styles.buffer);
}
