// Tiny random-weight models with vision and audio input: a text model and its projector, with all metadata and
// tensors that llama.cpp loads for real ones. Their output is nonsense, but they work like real ones.

import { join } from "node:path";
import type { GgufValue, TensorPlan } from "../../vendor/gguf-writer.ts";
import { byteLevelTokenizer, makeVocabulary } from "../bench/vocabulary.ts";
import { audioMetadata, audioTensors, IMAGE_SIZE, visionMetadata, visionTensors } from "./projector.ts";
import { matrix, ones, type Random, seeded, vector } from "./tensors.ts";
import { writeModel } from "./write-model.ts";

/**
 * `tiles`: images are split into tiles and an overview, one chunk each, which are decoded causally (like SmolVLM).
 * `block`: an image is one chunk whose tokens attend to each other (like Gemma 3).
 * `mrope`: any resolution, with positions of four numbers per token (like Qwen2-VL).
 */
export type VisionKind = "tiles" | "block" | "mrope";

export interface VisionModel {
  readonly model: string;
  readonly projector: string;
}

export const HIDDEN = 64;
const LAYERS = 2;
const HEADS = 4;
const FEED_FORWARD = 128;
const CONTEXT = 4096;
const BYTE_AND_LETTER_TOKENS = 1024;
/** The tokens from which mtmd builds the text around the parts of a medium. */
const MEDIA_TOKENS: Readonly<Record<VisionKind, readonly string[]>> = {
  tiles: [
    "<fake_token_around_image>",
    "<global-img>",
    ...[1, 2, 3, 4].flatMap((row) => [1, 2, 3, 4].map((column) => `<row_${row}_col_${column}>`)),
  ],
  block: ["<start_of_image>", "<end_of_image>"],
  mrope: ["<|vision_start|>", "<|vision_end|>"],
};
/** The spelling of an empty line in byte-level BPE; the parts of an image in tiles begin with one. */
const EMPTY_LINE = "ĊĊ";

export const CHAT_TEMPLATE =
  "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' }}" +
  "{% if message.content is string %}{{ message.content }}{% else %}" +
  "{% for part in message.content %}{{ part.text }}{% endfor %}{% endif %}{{ '<|im_end|>\\n' }}" +
  "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/** Part of the file names, so that a change of the content does not reuse old files. */
const VERSION = 1;

/**
 * Returns the paths of the two files in `folder`, and writes them first when they are missing. Their bytes are always
 * the same. `imageSize`: pixels of an image's side; larger images have more tokens.
 */
export function makeVisionModel(kind: VisionKind, folder: string, imageSize = IMAGE_SIZE): VisionModel {
  const model = join(folder, `vision-${kind}.v${VERSION}.gguf`);
  const projector = join(folder, `mmproj-vision-${kind}-${imageSize}.v${VERSION}.gguf`);
  // In this order, whichever file is missing: the values of one follow those of the other.
  const random = seeded(0x5eed);
  const text = textTensors(kind, random);
  const media = [...visionTensors(kind, HIDDEN, imageSize, random), ...audioTensors(HIDDEN, random)];
  writeModel(model, () => [textMetadata(kind), text]);
  writeModel(projector, () => [{ ...visionMetadata(kind, HIDDEN, imageSize), ...audioMetadata(HIDDEN) }, media]);
  return { model, projector };
}

function vocabularyOf(kind: VisionKind) {
  const { tokens, merges, kinds, endOfText, endOfTurn } = makeVocabulary(BYTE_AND_LETTER_TOKENS);
  const added = MEDIA_TOKENS[kind];
  return {
    tokens: [...tokens, EMPTY_LINE, ...added],
    merges: [...merges, "Ċ Ċ"],
    kinds: [...kinds, 1, ...added.map(() => 3)],
    endOfText,
    endOfTurn,
  };
}

const architectureOf = (kind: VisionKind): string => (kind === "mrope" ? "qwen2vl" : "llama");

function textMetadata(kind: VisionKind): Record<string, GgufValue> {
  const architecture = architectureOf(kind);
  const vocabulary = vocabularyOf(kind);
  const u32 = (value: number): GgufValue => ({ type: "u32", value });
  return {
    "general.architecture": { type: "string", value: architecture },
    "general.name": { type: "string", value: `vision ${kind}, random weights` },
    [`${architecture}.block_count`]: u32(LAYERS),
    [`${architecture}.context_length`]: u32(CONTEXT),
    [`${architecture}.embedding_length`]: u32(HIDDEN),
    [`${architecture}.feed_forward_length`]: u32(FEED_FORWARD),
    [`${architecture}.attention.head_count`]: u32(HEADS),
    [`${architecture}.attention.head_count_kv`]: u32(HEADS),
    [`${architecture}.attention.layer_norm_rms_epsilon`]: { type: "f32", value: 1e-6 },
    ...(kind === "mrope"
      ? { "qwen2vl.rope.dimension_sections": { type: "i32s", value: [2, 3, 3, 0] } satisfies GgufValue }
      : { "llama.rope.dimension_count": u32(HIDDEN / HEADS) }),
    ...byteLevelTokenizer(vocabulary),
    "tokenizer.ggml.bos_token_id": u32(vocabulary.endOfText),
    "tokenizer.ggml.eos_token_id": u32(vocabulary.endOfTurn),
    "tokenizer.ggml.add_bos_token": { type: "bool", value: true },
    "tokenizer.chat_template": { type: "string", value: CHAT_TEMPLATE },
  };
}

function textTensors(kind: VisionKind, random: Random): TensorPlan[] {
  const size = vocabularyOf(kind).tokens.length;
  const layer = (index: number): TensorPlan[] => {
    const name = (part: string) => `blk.${index}.${part}`;
    const biases = ["attn_q", "attn_k", "attn_v"].map((part) => vector(name(`${part}.bias`), HIDDEN, random));
    return [
      ones(name("attn_norm.weight"), HIDDEN),
      ...["attn_q", "attn_k", "attn_v", "attn_output"].map((part) =>
        matrix(name(`${part}.weight`), HIDDEN, HIDDEN, random),
      ),
      ...(kind === "mrope" ? biases : []),
      ones(name("ffn_norm.weight"), HIDDEN),
      matrix(name("ffn_gate.weight"), HIDDEN, FEED_FORWARD, random),
      matrix(name("ffn_up.weight"), HIDDEN, FEED_FORWARD, random),
      matrix(name("ffn_down.weight"), FEED_FORWARD, HIDDEN, random),
    ];
  };
  return [
    matrix("token_embd.weight", HIDDEN, size, random),
    ones("output_norm.weight", HIDDEN),
    matrix("output.weight", HIDDEN, size, random),
    ...Array.from({ length: LAYERS }, (_, index) => layer(index)).flat(),
  ];
}
