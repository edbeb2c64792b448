// Tiny random-weight models for embeddings: encoders with every pooling, causal models, and rerankers of both kinds.

import { join } from "node:path";
import { byteLevelTokenizer, makeVocabulary } from "../bench/vocabulary.ts";
import type { GgufValue, TensorPlan } from "../../vendor/gguf-writer.ts";
import { matrix, ones, type Random, seeded, vector } from "./tensors.ts";
import { writeModel, type ModelContent } from "./write-model.ts";

/**
 * `unsaid` does not state its pooling. Rerankers: `rank` does not state the tokens around a pair, like older
 * conversions; `rank-eos` does, like current ones; `causal-rank` is a language model with a prompt.
 */
export type EncoderKind =
  "mean" | "cls" | "rank" | "rank-eos" | "unsaid" | "causal-last" | "causal-mean" | "causal-rank";

export const ENCODER_HIDDEN = 64;
export const ENCODER_CONTEXT = 48;
const LAYERS = 2;
const HEADS = 4;
const FEED_FORWARD = 128;
const POOLING: Readonly<Record<EncoderKind, number | undefined>> = {
  mean: 1,
  cls: 2,
  rank: 4,
  "rank-eos": 4,
  unsaid: undefined,
  "causal-last": 3,
  "causal-mean": 1,
  "causal-rank": 4,
};
const SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
const WORDS = "the a sky is blue green grass what colour of sun moon river stone song".split(" ");
const LETTERS = [..."abcdefghijklmnopqrstuvwxyz0123456789.,?!"];

/** Part of the file names, so that a change of the content does not reuse old files. */
const VERSION = 1;

/** Returns the path of the model in `folder`, and writes it first when it is missing. Its bytes are always the same. */
export function makeEncoder(kind: EncoderKind, folder: string): string {
  const make = kind.startsWith("causal") ? causal : encoder;
  return writeModel(join(folder, `encoder-${kind}.v${VERSION}.gguf`), () => make(kind, seeded(0xbe27)));
}

const u32 = (value: number): GgufValue => ({ type: "u32", value });
const text = (value: string): GgufValue => ({ type: "string", value });
const flag = (value: boolean): GgufValue => ({ type: "bool", value });

function shape(architecture: string, kind: EncoderKind): Record<string, GgufValue> {
  const pooling = POOLING[kind];
  return {
    "general.architecture": text(architecture),
    "general.name": text(`encoder ${kind}, random weights`),
    [`${architecture}.block_count`]: u32(LAYERS),
    [`${architecture}.context_length`]: u32(ENCODER_CONTEXT),
    [`${architecture}.embedding_length`]: u32(ENCODER_HIDDEN),
    [`${architecture}.feed_forward_length`]: u32(FEED_FORWARD),
    [`${architecture}.attention.head_count`]: u32(HEADS),
    ...(pooling !== undefined && { [`${architecture}.pooling_type`]: u32(pooling) }),
  };
}

function encoder(kind: EncoderKind, random: Random): ModelContent {
  const pieces = [...WORDS.map((word) => `▁${word}`), ...LETTERS.flatMap((letter) => [`▁${letter}`, letter])];
  const vocabulary = [...SPECIAL, ...new Set(pieces)];
  const metadata: Record<string, GgufValue> = {
    ...shape("bert", kind),
    "bert.attention.layer_norm_epsilon": { type: "f32", value: 1e-12 },
    "bert.attention.causal": flag(false),
    "tokenizer.ggml.model": text("bert"),
    "tokenizer.ggml.tokens": { type: "strings", value: vocabulary },
    "tokenizer.ggml.token_type": { type: "i32s", value: vocabulary.map((_, id) => (id < SPECIAL.length ? 3 : 1)) },
    "tokenizer.ggml.token_type_count": u32(2),
    "tokenizer.ggml.bos_token_id": u32(2),
    "tokenizer.ggml.cls_token_id": u32(2),
    "tokenizer.ggml.seperator_token_id": u32(3),
    "tokenizer.ggml.unknown_token_id": u32(1),
    "tokenizer.ggml.padding_token_id": u32(0),
    "tokenizer.ggml.mask_token_id": u32(4),
    ...(kind === "rank-eos" && {
      "tokenizer.ggml.eos_token_id": u32(3),
      "tokenizer.ggml.add_bos_token": flag(true),
      "tokenizer.ggml.add_eos_token": flag(true),
      "tokenizer.ggml.add_sep_token": flag(false),
    }),
  };
  const norm = (name: string) => [
    ones(`${name}.weight`, ENCODER_HIDDEN),
    vector(`${name}.bias`, ENCODER_HIDDEN, random),
  ];
  const linear = (name: string, columns: number, rows: number) => [
    matrix(`${name}.weight`, columns, rows, random),
    vector(`${name}.bias`, rows, random),
  ];
  const layer = (index: number): TensorPlan[] => {
    const name = (part: string) => `blk.${index}.${part}`;
    return [
      ...["attn_q", "attn_k", "attn_v", "attn_output"].flatMap((part) =>
        linear(name(part), ENCODER_HIDDEN, ENCODER_HIDDEN),
      ),
      ...norm(name("attn_output_norm")),
      ...linear(name("ffn_up"), ENCODER_HIDDEN, FEED_FORWARD),
      ...linear(name("ffn_down"), FEED_FORWARD, ENCODER_HIDDEN),
      ...norm(name("layer_output_norm")),
    ];
  };
  const tensors = [
    matrix("token_embd.weight", ENCODER_HIDDEN, vocabulary.length, random),
    matrix("position_embd.weight", ENCODER_HIDDEN, ENCODER_CONTEXT, random),
    matrix("token_types.weight", ENCODER_HIDDEN, 2, random),
    ...norm("token_embd_norm"),
    ...Array.from({ length: LAYERS }, (_, index) => layer(index)).flat(),
    ...(kind.startsWith("rank")
      ? [...linear("cls", ENCODER_HIDDEN, ENCODER_HIDDEN), ...linear("cls.output", ENCODER_HIDDEN, 1)]
      : []),
  ];
  return [metadata, tensors];
}

function causal(kind: EncoderKind, random: Random): ModelContent {
  const vocabulary = makeVocabulary(1024);
  const metadata: Record<string, GgufValue> = {
    ...shape("qwen3", kind),
    "qwen3.attention.head_count_kv": u32(HEADS),
    "qwen3.attention.key_length": u32(ENCODER_HIDDEN / HEADS),
    "qwen3.attention.value_length": u32(ENCODER_HIDDEN / HEADS),
    "qwen3.attention.layer_norm_rms_epsilon": { type: "f32", value: 1e-6 },
    "qwen3.rope.freq_base": { type: "f32", value: 1e6 },
    ...byteLevelTokenizer(vocabulary),
    "tokenizer.ggml.eos_token_id": u32(vocabulary.endOfText),
    "tokenizer.ggml.padding_token_id": u32(vocabulary.endOfTurn),
    "tokenizer.ggml.add_bos_token": flag(false),
    "tokenizer.ggml.add_eos_token": flag(true),
    ...(kind === "causal-rank" && {
      "qwen3.classifier.output_labels": { type: "strings", value: ["yes", "no"] },
      "tokenizer.chat_template.rerank": text("<|im_start|>{query}\n{document}<|im_end|>"),
    }),
  };
  const layer = (index: number): TensorPlan[] => {
    const name = (part: string) => `blk.${index}.${part}.weight`;
    return [
      ones(name("attn_norm"), ENCODER_HIDDEN),
      ...["attn_q", "attn_k", "attn_v", "attn_output"].map((part) =>
        matrix(name(part), ENCODER_HIDDEN, ENCODER_HIDDEN, random),
      ),
      ones(name("attn_q_norm"), ENCODER_HIDDEN / HEADS),
      ones(name("attn_k_norm"), ENCODER_HIDDEN / HEADS),
      ones(name("ffn_norm"), ENCODER_HIDDEN),
      matrix(name("ffn_gate"), ENCODER_HIDDEN, FEED_FORWARD, random),
      matrix(name("ffn_up"), ENCODER_HIDDEN, FEED_FORWARD, random),
      matrix(name("ffn_down"), FEED_FORWARD, ENCODER_HIDDEN, random),
    ];
  };
  const tensors = [
    matrix("token_embd.weight", ENCODER_HIDDEN, vocabulary.tokens.length, random),
    ones("output_norm.weight", ENCODER_HIDDEN),
    ...(kind === "causal-rank" ? [matrix("cls.output.weight", ENCODER_HIDDEN, 2, random)] : []),
    ...Array.from({ length: LAYERS }, (_, index) => layer(index)).flat(),
  ];
  return [metadata, tensors];
}
