// Fields that llama.cpp's server, vLLM, SGLang and others document for routes that svc also has, but that svc does not
// implement. Where they would have an effect, svc refuses them by name, so that no answer silently lacks what was
// requested (test/parity/PEERS.md lists them). Fields that only change how an upstream computes are passed on to
// upstreams that know them (test/parity/UPSTREAMS.md).

import type { EmbedWork } from "../../domain/embedding.ts";
import { always, notEmpty, unless, type Unsupported } from "./unsupported.ts";

const above =
  (least: number) =>
  (value: unknown): boolean =>
    typeof value !== "number" || value > least;

const REASONING_FORMATS: readonly unknown[] = ["auto", "deepseek"];

/** Whether a value of `adaptive_target` has an effect: a negative one means off, whatever its size. */
export const setsAdaptiveTarget = (value: unknown): boolean =>
  value != null && !(typeof value === "number" && value < 0);

/** llama.cpp's fields of chat completions and completions that an upstream may support. */
const FOREIGN_LLAMA: Unsupported = {
  n_indent: above(0),
  n_cache_reuse: above(0),
  min_keep: above(0),
  n_keep: above(0),
  n_discard: above(0),
  adaptive_target: setsAdaptiveTarget,
};

/** SGLang's fields of this kind. */
const FOREIGN_SGLANG: Unsupported = {
  stop_regex: notEmpty,
  no_stop_trim: unless(false),
  lora_path: notEmpty,
  custom_params: always,
  images_config: always,
  extra_key: always,
  ngram_corpus_id: always,
};

const FOREIGN: Unsupported = {
  ...FOREIGN_LLAMA,
  ...FOREIGN_SGLANG,
  watermarking: unless(false),
  stop_token_ids: notEmpty,
  include_stop_str_in_output: unless(false),
  skip_special_tokens: unless(true),
  spaces_between_special_tokens: unless(true),
  truncate_prompt_tokens: always,
  truncation_side: always,
  logprob_token_ids: notEmpty,
  allowed_token_ids: notEmpty,
  bad_words: notEmpty,
  priority: unless(0),
  cache_salt: always,
  vllm_xargs: always,
  repetition_detection: always,
  stream_interval: unless(1),
};

export const CHAT_FOREIGN: Unsupported = {
  ...FOREIGN,
  include_reasoning: unless(true),
  add_special_tokens: unless(false),
  documents: notEmpty,
  chat_template: always,
  media_io_kwargs: always,
  mm_processor_kwargs: always,
  stream_reasoning: unless(true),
  task: always,
  max_dynamic_patch: always,
  min_dynamic_patch: always,
  use_audio_in_video: unless(false),
};

export const COMPLETION_FOREIGN: Unsupported = {
  ...FOREIGN,
  add_special_tokens: unless(true),
  custom_labels: always,
};

/** Returns the fields of a body that upstreams may support and that would have an effect. */
export function decodeForeign(body: unknown, known: Unsupported): Pick<EmbedWork, "foreign"> {
  const given = Object.entries(body as Readonly<Record<string, unknown>>);
  const foreign = given.filter(([name, value]) => value != null && Object.hasOwn(known, name) && known[name]?.(value));
  return foreign.length > 0 ? { foreign: Object.fromEntries(foreign) } : {};
}

/** llama.cpp's fields that are always refused, also for models of upstreams. */
const LLAMA_NOWHERE: Unsupported = { post_sampling_probs: unless(false), sse_ping_interval: always };

/** llama.cpp's fields on its own routes, which take `n_indent` for editors that always send it. */
export const LLAMA_UNSUPPORTED: Unsupported = { ...FOREIGN_LLAMA, ...LLAMA_NOWHERE, n_indent: () => false };

/** llama.cpp's fields on its own routes when the server drops older tokens of a full context. */
export const LLAMA_SHIFT_UNSUPPORTED: Unsupported = { ...LLAMA_UNSUPPORTED, n_keep: () => false };

/** llama.cpp's fields where the answer has the form of another API. */
const LLAMA_FORM: Unsupported = {
  ...LLAMA_NOWHERE,
  return_tokens: unless(false),
  response_fields: notEmpty,
};

/** vLLM's fields of chat completions, completions and responses. */
const VLLM: Unsupported = {
  use_beam_search: unless(false),
  length_penalty: unless(1),
  prompt_logprobs: always,
  request_id: always,
  return_tokens_as_token_ids: unless(false),
  return_token_ids: unless(false),
  logits_processors: notEmpty,
  kv_transfer_params: always,
  ec_transfer_params: always,
};

/** SGLang's fields of these routes: other answer formats, code to execute, fields between SGLang and its router. */
const SGLANG: Unsupported = {
  custom_logit_processor: always,
  session_params: always,
  rid: always,
  return_hidden_states: unless(false),
  return_routed_experts: unless(false),
  return_cached_tokens_details: unless(false),
  bootstrap_host: always,
  bootstrap_port: always,
  bootstrap_room: always,
  routed_dp_rank: always,
  data_parallel_rank: always,
  disagg_prefill_dp_rank: always,
};

/** Ollama's field on all routes that generate: return the prompt instead of an answer. */
const OLLAMA: Unsupported = { _debug_render_only: unless(false) };

export const CHAT_PEER_UNSUPPORTED: Unsupported = {
  ...LLAMA_FORM,
  ...VLLM,
  ...SGLANG,
  ...OLLAMA,
  n_cmpl: unless(1),
  n_probs: above(0),
  reasoning_format: (value) => !REASONING_FORMATS.includes(value),
  reasoning_control: unless(false),
  generation_prompt: notEmpty,
  parse_tool_calls: unless(true),
  echo: unless(false),
  return_prompt_text: unless(false),
  return_prompt_token_ids: unless(false),
  return_meta_info: unless(false),
  separate_reasoning: unless(true),
  input_ids: always,
};

export const RESPONSES_PEER_UNSUPPORTED: Unsupported = {
  ...VLLM,
  ...SGLANG,
  enable_response_messages: unless(false),
  previous_input_messages: notEmpty,
  previous_response: always,
};

export const MESSAGES_PEER_UNSUPPORTED: Unsupported = { kv_transfer_params: always };

export const COMPLETION_PEER_UNSUPPORTED: Unsupported = {
  ...LLAMA_FORM,
  ...VLLM,
  ...SGLANG,
  ...OLLAMA,
  n_cmpl: unless(1),
  prompt_embeds: always,
};

/** Fields of vLLM, SGLang and llama.cpp for embeddings that an upstream may support. */
export const EMBEDDING_FOREIGN: Unsupported = {
  truncate_prompt_tokens: always,
  truncation_side: always,
  padding: unless("do_not_pad"),
  add_special_tokens: unless(true),
  priority: unless(0),
  cache_salt: always,
  mm_processor_kwargs: always,
  lora_path: notEmpty,
  use_activation: unless(true),
  normalize: unless(true),
  embd_normalize: unless(2),
};

/** Fields of vLLM and SGLang for embeddings, and of the services that Jina and Voyage offer. */
export const EMBEDDING_PEER_UNSUPPORTED: Unsupported = {
  request_id: always,
  rid: always,
  embed_overrides: always,
  embed_override_token_id: always,
  chat_template: always,
  chat_template_kwargs: always,
  messages: always,
  embed_dtype: unless("float32"),
  endianness: unless("native"),
  normalized: unless(true),
  late_chunking: unless(false),
  output_dtype: unless("float"),
};

/** Fields for rankings, which upstreams never compute. */
export const RERANK_PEER_UNSUPPORTED: Unsupported = {
  ...EMBEDDING_FOREIGN,
  ...EMBEDDING_PEER_UNSUPPORTED,
  max_tokens_per_doc: above(0),
  // Cohere's fields.
  max_chunks_per_doc: always,
  rank_fields: notEmpty,
  relevant_spans: always,
  instruction: notEmpty,
  instruct: notEmpty,
};

/** vLLM's fields for transcriptions and translations. */
export const SPEECH_PEER_UNSUPPORTED: Unsupported = {
  top_p: unless(1),
  top_k: above(0),
  min_p: above(0),
  seed: always,
  frequency_penalty: unless(0),
  presence_penalty: unless(0),
  repetition_penalty: unless(1),
  max_completion_tokens: always,
  use_beam_search: unless(false),
  n: unless(1),
  length_penalty: unless(1),
  include_stop_str_in_output: unless(false),
  hotwords: notEmpty,
  to_language: notEmpty,
  stream_continuous_usage_stats: unless(false),
  vllm_xargs: always,
};

/** Returns Ollama's fields. `shifts`: the server drops older tokens of a full context. */
export const ollamaUnsupported = (shifts: boolean): Unsupported => ({
  ...OLLAMA,
  template: notEmpty,
  truncate: unless(false),
  shift: unless(shifts),
  width: always,
  height: always,
  steps: always,
});
