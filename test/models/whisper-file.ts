// Files in whisper.cpp's format that are complete, but far too small to recognize anything.

/** Vocabulary, four sizes of the encoder, four of the decoder, mel bands and weight type of Whisper base. */
export const BASE = [51865, 1500, 512, 8, 6, 448, 512, 8, 6, 80, 1];

/** Returns a file with these sizes, one word and two tensors. The name of the last one is `name`. */
export function whisperFile(numbers: readonly number[] = BASE, name = "decoder.ln.bias"): Buffer {
  const integers = (...values: readonly number[]) => Buffer.from(new Uint8Array(Int32Array.from(values).buffer));
  const tensor = (type: number, sizes: readonly number[], title: string, bytes: number) => [
    integers(sizes.length, title.length, type, ...sizes),
    Buffer.from(title),
    Buffer.alloc(bytes, 1),
  ];
  return Buffer.concat([
    Buffer.from("lmgg"),
    integers(...numbers),
    integers(2, 3),
    Buffer.alloc(2 * 3 * 4),
    integers(1, 5),
    Buffer.from("hello"),
    // Q8_0 has 34 bytes for 32 elements, F32 has 4 for one.
    ...tensor(8, [64, 2], "encoder.conv1.weight", 4 * 34),
    ...tensor(0, [8], name, 8 * 4),
  ]);
}
