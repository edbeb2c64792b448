// A tiny random-weight recurrent model (Mamba), whose state cannot be trimmed.

import { join } from "node:path";
import type { GgufValue, TensorPlan } from "../../vendor/gguf-writer.ts";
import { byteLevelTokenizer, makeVocabulary } from "../bench/vocabulary.ts";
import { CHAT_TEMPLATE } from "./make-vision-model.ts";
import { matrix, ones, seeded, tensor, vector, type Random } from "./tensors.ts";
import { writeModel } from "./write-model.ts";

const HIDDEN = 64;
const INNER = 2 * HIDDEN;
const STATE = 16;
const RANK = 4;
const KERNEL = 4;
const LAYERS = 2;
const BYTE_AND_LETTER_TOKENS = 1024;

/** Part of the file name, so that a change of the content does not reuse an old file. */
const VERSION = 1;

/** Returns the path of the model's file in `folder`, created when missing. Its bytes are always the same. */
export function makeRecurrentModel(folder: string): string {
  const vocabulary = makeVocabulary(BYTE_AND_LETTER_TOKENS);
  const u32 = (value: number): GgufValue => ({ type: "u32", value });
  const metadata: Record<string, GgufValue> = {
    "general.architecture": { type: "string", value: "mamba" },
    "general.name": { type: "string", value: "recurrent, random weights" },
    "mamba.block_count": u32(LAYERS),
    "mamba.context_length": u32(4096),
    "mamba.embedding_length": u32(HIDDEN),
    "mamba.feed_forward_length": u32(0),
    "mamba.attention.head_count": u32(0),
    "mamba.attention.layer_norm_rms_epsilon": { type: "f32", value: 1e-6 },
    "mamba.ssm.conv_kernel": u32(KERNEL),
    "mamba.ssm.inner_size": u32(INNER),
    "mamba.ssm.state_size": u32(STATE),
    "mamba.ssm.time_step_rank": u32(RANK),
    ...byteLevelTokenizer(vocabulary),
    "tokenizer.ggml.eos_token_id": u32(vocabulary.endOfTurn),
    "tokenizer.ggml.add_bos_token": { type: "bool", value: false },
    "tokenizer.chat_template": { type: "string", value: CHAT_TEMPLATE },
  };
  const path = join(folder, `recurrent.v${VERSION}.gguf`);
  return writeModel(path, () => [metadata, tensors(vocabulary.tokens.length, seeded(0x5eed))]);
}

function tensors(words: number, random: Random): TensorPlan[] {
  const layer = (index: number): TensorPlan[] => {
    const name = (part: string) => `blk.${index}.${part}`;
    return [
      ones(name("attn_norm.weight"), HIDDEN),
      matrix(name("ssm_in.weight"), HIDDEN, 2 * INNER, random),
      matrix(name("ssm_conv1d.weight"), KERNEL, INNER, random),
      vector(name("ssm_conv1d.bias"), INNER, random),
      matrix(name("ssm_x.weight"), INNER, RANK + 2 * STATE, random),
      matrix(name("ssm_dt.weight"), RANK, INNER, random),
      vector(name("ssm_dt.bias"), INNER, random),
      // Negative, so that the state decays.
      tensor(name("ssm_a"), [STATE, INNER], 0.5, () => (random() - 3) / 2),
      vector(name("ssm_d"), INNER, random),
      matrix(name("ssm_out.weight"), INNER, HIDDEN, random),
    ];
  };
  return [
    matrix("token_embd.weight", HIDDEN, words, random),
    ones("output_norm.weight", HIDDEN),
    ...Array.from({ length: LAYERS }, (_, index) => layer(index)).flat(),
  ];
}
