// Converts a BERT encoder to GGUF: the metadata and tensor names that llama.cpp reads, the large matrices as Q8_0.

import type { GgufValue, TensorPlan } from "./gguf-writer.ts";
import { quantizeQ8 } from "./quantize.ts";
import type { Weights } from "./safetensors.ts";

export interface BertShape {
  readonly layers: number;
  readonly hidden: number;
  readonly feedForward: number;
  readonly heads: number;
  readonly layerNormEpsilon: number;
  /** Longest input in tokens. */
  readonly context: number;
}

interface Description {
  readonly name: string;
  readonly license: string;
  readonly shape: BertShape;
  /** Word pieces in the order of their ids. */
  readonly vocabulary: readonly string[];
  readonly special: readonly string[];
}

const MEAN_POOLING = 1;
const MOSTLY_Q8_0 = 7;
const NORMAL = 1;
const CONTROL = 3;

/** Returns the metadata of an encoder whose vectors are the mean over the tokens. */
export function bertMetadata({ name, license, shape, vocabulary, special }: Description): Record<string, GgufValue> {
  const u32 = (value: number): GgufValue => ({ type: "u32", value });
  const text = (value: string): GgufValue => ({ type: "string", value });
  const id = (token: string) => u32(vocabulary.indexOf(token));
  const isSpecial = (token: string) => special.includes(token);
  return {
    "general.architecture": text("bert"),
    "general.name": text(name),
    "general.license": text(license),
    "general.file_type": u32(MOSTLY_Q8_0),
    "bert.block_count": u32(shape.layers),
    "bert.context_length": u32(shape.context),
    "bert.embedding_length": u32(shape.hidden),
    "bert.feed_forward_length": u32(shape.feedForward),
    "bert.attention.head_count": u32(shape.heads),
    "bert.attention.layer_norm_epsilon": { type: "f32", value: shape.layerNormEpsilon },
    "bert.attention.causal": { type: "bool", value: false },
    "bert.pooling_type": u32(MEAN_POOLING),
    "tokenizer.ggml.model": text("bert"),
    "tokenizer.ggml.tokens": {
      type: "strings",
      value: vocabulary.map((token) => (isSpecial(token) ? token : asPhrase(token))),
    },
    "tokenizer.ggml.token_type": {
      type: "i32s",
      value: vocabulary.map((token) => (isSpecial(token) ? CONTROL : NORMAL)),
    },
    "tokenizer.ggml.token_type_count": u32(2),
    "tokenizer.ggml.bos_token_id": id("[CLS]"),
    "tokenizer.ggml.cls_token_id": id("[CLS]"),
    "tokenizer.ggml.seperator_token_id": id("[SEP]"),
    "tokenizer.ggml.unknown_token_id": id("[UNK]"),
    "tokenizer.ggml.padding_token_id": id("[PAD]"),
    "tokenizer.ggml.mask_token_id": id("[MASK]"),
  };
}

/** llama.cpp marks the first piece of a word, BERT the pieces that continue it. */
const asPhrase = (piece: string): string => (piece.startsWith("##") ? piece.slice(2) : `▁${piece}`);

const LAYER_NAMES: Readonly<Record<string, string>> = {
  "attention.self.query": "attn_q",
  "attention.self.key": "attn_k",
  "attention.self.value": "attn_v",
  "attention.output.dense": "attn_output",
  "attention.output.LayerNorm": "attn_output_norm",
  "intermediate.dense": "ffn_up",
  "output.dense": "ffn_down",
  "output.LayerNorm": "layer_output_norm",
};

/** Returns the tensors of a Hugging Face checkpoint under llama.cpp's names. */
export function bertTensors(shape: BertShape, weights: Weights): TensorPlan[] {
  const plan = (name: string, from: string, type: TensorPlan["type"] = "f32", mostRows = Infinity): TensorPlan => {
    const { values, shape: size } = weights.get(from);
    const columns = size.at(-1) ?? 0;
    const rows = Math.min(values.length / columns, mostRows);
    const fill: TensorPlan["fill"] = (bytes, firstRow, rowCount) => {
      const part = values.subarray(firstRow * columns, (firstRow + rowCount) * columns);
      if (type === "q8_0") quantizeQ8(part, bytes);
      else bytes.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
    };
    return { name, type, columns, rows, fill };
  };
  const pair = (name: string, from: string, type: TensorPlan["type"]): TensorPlan[] => [
    plan(`${name}.weight`, `${from}.weight`, type),
    plan(`${name}.bias`, `${from}.bias`),
  ];
  const layer = (index: number): TensorPlan[] =>
    Object.entries(LAYER_NAMES).flatMap(([from, name]) =>
      pair(`blk.${index}.${name}`, `encoder.layer.${index}.${from}`, name.endsWith("norm") ? "f32" : "q8_0"),
    );
  return [
    plan("token_embd.weight", "embeddings.word_embeddings.weight", "q8_0"),
    plan("position_embd.weight", "embeddings.position_embeddings.weight", "f32", shape.context),
    plan("token_types.weight", "embeddings.token_type_embeddings.weight"),
    ...pair("token_embd_norm", "embeddings.LayerNorm", "f32"),
    ...Array.from({ length: shape.layers }, (_, index) => layer(index)).flat(),
  ];
}
