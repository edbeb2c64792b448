// A model that vLLM and SGLang can load but that generates nonsense: Qwen3 with two small layers of random weights,
// one token per byte, and a chat template that shows tools. Made here, so that nothing has to be downloaded.

import { join } from "node:path";

const HIDDEN = 128;
const HEAD = 64;
const LAYERS = 2;
const INNER = 256;
const SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];
const VOCABULARY = 256 + SPECIAL.length;

const CONFIG = {
  architectures: ["Qwen3ForCausalLM"],
  model_type: "qwen3",
  hidden_size: HIDDEN,
  intermediate_size: INNER,
  num_hidden_layers: LAYERS,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: HEAD,
  vocab_size: VOCABULARY,
  max_position_embeddings: 8192,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  hidden_act: "silu",
  attention_bias: false,
  tie_word_embeddings: true,
  torch_dtype: "float32",
  bos_token_id: 256,
  eos_token_id: 258,
};

const TEMPLATE = `{%- if tools %}<|im_start|>system
# Tools
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}<|im_end|>
{% endif %}{%- for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}`;

/** Writes the model's files into the folder. */
export async function makeTinyModel(folder: string): Promise<void> {
  const json = (name: string, value: unknown) => Bun.write(join(folder, name), JSON.stringify(value));
  await json("config.json", CONFIG);
  await json("generation_config.json", { bos_token_id: 256, eos_token_id: 258 });
  await json("tokenizer.json", tokenizer());
  await json("tokenizer_config.json", {
    tokenizer_class: "PreTrainedTokenizerFast",
    eos_token: "<|im_end|>",
    pad_token: "<|endoftext|>",
    model_max_length: 8192,
    chat_template: TEMPLATE,
  });
  await Bun.write(join(folder, "model.safetensors"), safetensors(tensors()));
}

/** Returns GPT-2's characters for bytes, which byte-level tokenizers use. */
function byteCharacters(): string[] {
  const isPlain = (byte: number) =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isPlain(byte) ? byte : next++));
}

function tokenizer() {
  const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false };
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: SPECIAL.map((content, at) => ({
      id: 256 + at,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: null,
    decoder: byteLevel,
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      vocab: Object.fromEntries(byteCharacters().map((character, byte) => [character, byte])),
      merges: [],
    },
  };
}

type Shapes = Record<string, readonly number[]>;

function tensors(): Shapes {
  const shapes: Shapes = { "model.embed_tokens.weight": [VOCABULARY, HIDDEN], "model.norm.weight": [HIDDEN] };
  for (let layer = 0; layer < LAYERS; layer++) {
    const at = `model.layers.${layer}`;
    Object.assign(shapes, {
      [`${at}.input_layernorm.weight`]: [HIDDEN],
      [`${at}.post_attention_layernorm.weight`]: [HIDDEN],
      [`${at}.self_attn.q_proj.weight`]: [2 * HEAD, HIDDEN],
      [`${at}.self_attn.k_proj.weight`]: [HEAD, HIDDEN],
      [`${at}.self_attn.v_proj.weight`]: [HEAD, HIDDEN],
      [`${at}.self_attn.o_proj.weight`]: [HIDDEN, 2 * HEAD],
      [`${at}.self_attn.q_norm.weight`]: [HEAD],
      [`${at}.self_attn.k_norm.weight`]: [HEAD],
      [`${at}.mlp.gate_proj.weight`]: [INNER, HIDDEN],
      [`${at}.mlp.up_proj.weight`]: [INNER, HIDDEN],
      [`${at}.mlp.down_proj.weight`]: [HIDDEN, INNER],
    });
  }
  return shapes;
}

/** Returns random weights of these shapes in the safetensors format, with norms of 1. */
function safetensors(shapes: Shapes): Uint8Array {
  const header: Record<string, unknown> = {};
  const values: number[] = [];
  let state = 1;
  const random = () => ((state = Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32 - 0.5;
  for (const [name, shape] of Object.entries(shapes)) {
    const size = shape.reduce((product, one) => product * one, 1);
    header[name] = { dtype: "F32", shape, data_offsets: [4 * values.length, 4 * (values.length + size)] };
    for (let at = 0; at < size; at++) values.push(shape.length === 1 ? 1 : 0.3 * random());
  }
  const json = new TextEncoder().encode(JSON.stringify(header));
  const bytes = new Uint8Array(8 + json.length + 4 * values.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
  bytes.set(json, 8);
  bytes.set(new Uint8Array(new Float32Array(values).buffer), 8 + json.length);
  return bytes;
}
