// Random-weight models for benchmarks: the speed of a step depends on the shape of the weights, not on their values.

import { join } from "node:path";
import { rowBytes, type TensorPlan } from "../../vendor/gguf-writer.ts";
import { writeModel, type ModelContent } from "../models/write-model.ts";
import { byteLevelTokenizer, makeVocabulary } from "./vocabulary.ts";

export interface ModelShape {
  readonly layers: number;
  readonly hidden: number;
  readonly feedForward: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDimension: number;
  readonly vocabulary: number;
  readonly trainedContext: number;
}

export type BenchModel = "0.6b" | "60m";

/** Both models have the form of Qwen3 with tied embeddings; the first has exactly the dimensions of Qwen3-0.6B. */
export const MODEL_SHAPES: Readonly<Record<BenchModel, ModelShape>> = {
  "0.6b": {
    layers: 28,
    hidden: 1024,
    feedForward: 3072,
    heads: 16,
    kvHeads: 8,
    headDimension: 128,
    vocabulary: 151_936,
    trainedContext: 40_960,
  },
  "60m": {
    layers: 14,
    hidden: 512,
    feedForward: 1536,
    heads: 8,
    kvHeads: 4,
    headDimension: 64,
    vocabulary: 32_000,
    trainedContext: 32_768,
  },
};

const CHAT_TEMPLATE =
  "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}" +
  "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/** Part of the file name, so that a change of the content does not reuse an old file. */
const VERSION = 2;

/** Returns the path of the model's Q8_0 file in `folder`, created when missing. Its bytes are always the same. */
export function makeModel(name: BenchModel, folder: string, log: (line: string) => void = console.error): string {
  const path = join(folder, `bench-${name}-q8_0.v${VERSION}.gguf`);
  return writeModel(path, () => {
    log(`bench: writes ${path}`);
    return contentOf(name);
  });
}

function contentOf(name: BenchModel): ModelContent {
  const shape = MODEL_SHAPES[name];
  const vocabulary = makeVocabulary(shape.vocabulary);
  return [
    {
      "general.architecture": { type: "string", value: "qwen3" },
      "general.name": { type: "string", value: `bench ${name}, random weights` },
      "general.file_type": { type: "u32", value: 7 },
      "qwen3.block_count": { type: "u32", value: shape.layers },
      "qwen3.context_length": { type: "u32", value: shape.trainedContext },
      "qwen3.embedding_length": { type: "u32", value: shape.hidden },
      "qwen3.feed_forward_length": { type: "u32", value: shape.feedForward },
      "qwen3.attention.head_count": { type: "u32", value: shape.heads },
      "qwen3.attention.head_count_kv": { type: "u32", value: shape.kvHeads },
      "qwen3.attention.key_length": { type: "u32", value: shape.headDimension },
      "qwen3.attention.value_length": { type: "u32", value: shape.headDimension },
      "qwen3.attention.layer_norm_rms_epsilon": { type: "f32", value: 1e-6 },
      "qwen3.rope.freq_base": { type: "f32", value: 1e6 },
      ...byteLevelTokenizer(vocabulary),
      "tokenizer.ggml.eos_token_id": { type: "u32", value: vocabulary.endOfTurn },
      "tokenizer.ggml.padding_token_id": { type: "u32", value: vocabulary.endOfText },
      "tokenizer.ggml.add_bos_token": { type: "bool", value: false },
      "tokenizer.chat_template": { type: "string", value: CHAT_TEMPLATE },
    },
    listTensors(shape, vocabulary.isPlain),
  ];
}

function listTensors(shape: ModelShape, isPlain: (token: number) => boolean): TensorPlan[] {
  const random = xorshift(0x5eed_5eed);
  const query = shape.heads * shape.headDimension;
  const keyValue = shape.kvHeads * shape.headDimension;
  // 1 / sqrt(inputs) keeps activations near 1 through the layers.
  const matrix = (name: string, columns: number, rows: number): TensorPlan => ({
    name: `${name}.weight`,
    type: "q8_0",
    columns,
    rows,
    fill: (bytes) => fillRandom(bytes, random, 1 / Math.sqrt(columns)),
  });
  const ones = (name: string, columns: number): TensorPlan => ({
    name: `${name}.weight`,
    type: "f32",
    columns,
    rows: 1,
    fill: (bytes) => new Float32Array(bytes.buffer, bytes.byteOffset, columns).fill(1),
  });
  const layer = (index: number): TensorPlan[] => [
    ones(`blk.${index}.attn_norm`, shape.hidden),
    matrix(`blk.${index}.attn_q`, shape.hidden, query),
    matrix(`blk.${index}.attn_k`, shape.hidden, keyValue),
    matrix(`blk.${index}.attn_v`, shape.hidden, keyValue),
    ones(`blk.${index}.attn_q_norm`, shape.headDimension),
    ones(`blk.${index}.attn_k_norm`, shape.headDimension),
    matrix(`blk.${index}.attn_output`, query, shape.hidden),
    ones(`blk.${index}.ffn_norm`, shape.hidden),
    matrix(`blk.${index}.ffn_gate`, shape.hidden, shape.feedForward),
    matrix(`blk.${index}.ffn_up`, shape.hidden, shape.feedForward),
    matrix(`blk.${index}.ffn_down`, shape.feedForward, shape.hidden),
  ];
  const embedding = matrix("token_embd", shape.hidden, shape.vocabulary);
  return [
    {
      ...embedding,
      // The embedding is also the output matrix. A row near zero has a logit near 0, far below the best of so many
      // random ones, so the model never ends its turn and writes only letters and spaces: every answer has the
      // requested length. The values are not exactly zero: tokens required by a schema would then be tied, and
      // servers resolve ties differently.
      fill: (bytes, firstRow, rowCount) => {
        fillRandom(bytes, random, 0.02);
        const size = rowBytes("q8_0", shape.hidden);
        for (let row = 0; row < rowCount; row++) {
          if (!isPlain(firstRow + row)) setDeviation(bytes.subarray(row * size, (row + 1) * size), 1e-4);
        }
      },
    },
    ones("output_norm", shape.hidden),
    ...Array.from({ length: shape.layers }, (_, index) => layer(index)).flat(),
  ];
}

/** Fills Q8_0 blocks with uniform values of the given standard deviation. */
function fillRandom(bytes: Uint8Array, next: (words: Uint32Array) => void, deviation: number): void {
  const words = new Uint32Array(Math.ceil(bytes.length / 4));
  next(words);
  bytes.set(new Uint8Array(words.buffer, 0, bytes.length));
  setDeviation(bytes, deviation);
}

function setDeviation(bytes: Uint8Array, deviation: number): void {
  // Odd bytes from -127 to 127 have a standard deviation of 73.9.
  const scale = new Uint16Array(new Float16Array([deviation / 73.9]).buffer)[0] ?? 0;
  for (let block = 0; block < bytes.length; block += 34) {
    bytes[block] = scale & 0xff;
    bytes[block + 1] = scale >> 8;
  }
}

/**
 * Returns a deterministic generator that fills whole arrays; every byte is odd, because -128 does not occur in Q8_0.
 */
function xorshift(seed: number): (words: Uint32Array) => void {
  let state = seed;
  return (words) => {
    for (let index = 0; index < words.length; index++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      words[index] = state | 0x01010101;
    }
  };
}
