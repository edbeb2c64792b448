// An ESRGAN model that repeats each pixel: all its layers pass on their input, and its blocks add nothing.

/** Sizes that stable-diffusion.cpp expects: internal channels, and those that each layer of a block adds. */
const [FEATURES, GROWTH] = [64, 32];

interface Layer {
  readonly name: string;
  readonly shape: readonly [outputs: number, inputs: number, height: number, width: number];
  readonly weights: Float32Array;
}

/** `passes`: number of channels that the middle of the kernel passes on. */
function layer(name: string, outputs: number, inputs: number, passes = 0): Layer {
  const weights = new Float32Array(outputs * inputs * 9);
  for (let channel = 0; channel < passes; channel++) weights[(channel * inputs + channel) * 9 + 4] = 1;
  return { name, shape: [outputs, inputs, 3, 3], weights };
}

/** Returns the file in safetensors format; the model enlarges images four times. */
export function upscalerBytes(): Uint8Array {
  const dense = [1, 2, 3].flatMap((block) =>
    [1, 2, 3, 4, 5].map((conv) =>
      layer(`body.0.rdb${block}.conv${conv}`, conv === 5 ? FEATURES : GROWTH, FEATURES + (conv - 1) * GROWTH),
    ),
  );
  const same = (name: string, passes = 3) => layer(name, FEATURES, FEATURES, passes);
  const layers = [
    layer("conv_first", FEATURES, 3, 3),
    ...dense,
    same("conv_body", 0),
    same("conv_up1"),
    same("conv_up2"),
    same("conv_hr"),
    layer("conv_last", 3, FEATURES, 3),
  ];
  const tensors = layers.flatMap(({ name, shape, weights }) => [
    { name: `${name}.weight`, shape, numbers: weights },
    { name: `${name}.bias`, shape: [shape[0]], numbers: new Float32Array(shape[0]) },
  ]);
  let end = 0;
  const header = Object.fromEntries(
    tensors.map(({ name, shape, numbers }) => {
      const start = end;
      end += numbers.byteLength;
      return [name, { dtype: "F32", shape, data_offsets: [start, end] }];
    }),
  );
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([length, json, ...tensors.map(({ numbers }) => new Uint8Array(numbers.buffer))]);
}
