// Fields that llama.cpp's server, vLLM, SGLang and others document for routes that svc also has, but that svc does not
// implement. Where they would have an effect, svc refuses them by name, so that no answer silently lacks what was
// requested (test/parity/PEERS.md lists them). Fields that only change how an upstream computes are passed on to
// upstreams that know them (test/parity/UPSTREAMS.md).

import type { EmbedWork } from "../../domain/embedding.ts";
import { always, each, notEmpty, unless, type Unsupported } from "./unsupported.ts";

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
  ...each(above(0), "n_indent n_cache_reuse min_keep n_keep n_discard"),
  adaptive_target: setsAdaptiveTarget,
};

/** SGLang's fields of this kind. */
const FOREIGN_SGLANG: Unsupported = {
  ...each(notEmpty, "stop_regex lora_path"),
  ...each(always, "custom_params images_config extra_key ngram_corpus_id"),
  no_stop_trim: unless(false),
};

const FOREIGN: Unsupported = {
  ...FOREIGN_LLAMA,
  ...FOREIGN_SGLANG,
  ...each(always, "truncate_prompt_tokens truncation_side cache_salt vllm_xargs repetition_detection"),
  ...each(notEmpty, "stop_token_ids logprob_token_ids allowed_token_ids bad_words"),
  ...each(unless(false), "watermarking include_stop_str_in_output"),
  ...each(unless(true), "skip_special_tokens spaces_between_special_tokens"),
  priority: unless(0),
  stream_interval: unless(1),
};

export const CHAT_FOREIGN: Unsupported = {
  ...FOREIGN,
  ...each(always, "chat_template media_io_kwargs mm_processor_kwargs task max_dynamic_patch min_dynamic_patch"),
  ...each(unless(false), "add_special_tokens use_audio_in_video"),
  ...each(unless(true), "include_reasoning stream_reasoning"),
  documents: notEmpty,
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
  ...each(always, "prompt_logprobs request_id kv_transfer_params ec_transfer_params"),
  ...each(unless(false), "use_beam_search return_tokens_as_token_ids return_token_ids"),
  length_penalty: unless(1),
  logits_processors: notEmpty,
};

/** SGLang's fields of these routes: other answer formats, code to execute, fields between SGLang and its router. */
const SGLANG: Unsupported = {
  ...each(always, "custom_logit_processor session_params rid bootstrap_host bootstrap_port bootstrap_room"),
  ...each(always, "routed_dp_rank data_parallel_rank disagg_prefill_dp_rank"),
  ...each(unless(false), "return_hidden_states return_routed_experts return_cached_tokens_details"),
};

/** Ollama's field on all routes that generate: return the prompt instead of an answer. */
const OLLAMA: Unsupported = { _debug_render_only: unless(false) };

export const CHAT_PEER_UNSUPPORTED: Unsupported = {
  ...LLAMA_FORM,
  ...VLLM,
  ...SGLANG,
  ...OLLAMA,
  ...each(unless(false), "reasoning_control echo return_prompt_text return_prompt_token_ids return_meta_info"),
  ...each(unless(true), "parse_tool_calls separate_reasoning"),
  n_cmpl: unless(1),
  n_probs: above(0),
  reasoning_format: (value) => !REASONING_FORMATS.includes(value),
  generation_prompt: notEmpty,
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
  ...each(always, "truncate_prompt_tokens truncation_side cache_salt mm_processor_kwargs"),
  ...each(unless(true), "add_special_tokens use_activation normalize"),
  padding: unless("do_not_pad"),
  priority: unless(0),
  lora_path: notEmpty,
  embd_normalize: unless(2),
};

/** Fields of vLLM and SGLang for embeddings, and of the services that Jina and Voyage offer. */
export const EMBEDDING_PEER_UNSUPPORTED: Unsupported = {
  ...each(always, "request_id rid embed_overrides embed_override_token_id chat_template chat_template_kwargs messages"),
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
  ...each(always, "max_chunks_per_doc relevant_spans"),
  ...each(notEmpty, "rank_fields instruction instruct"),
};

/** vLLM's fields for transcriptions and translations. */
export const SPEECH_PEER_UNSUPPORTED: Unsupported = {
  ...each(unless(1), "top_p repetition_penalty n length_penalty"),
  ...each(above(0), "top_k min_p"),
  ...each(unless(0), "frequency_penalty presence_penalty"),
  ...each(always, "seed max_completion_tokens vllm_xargs"),
  ...each(unless(false), "use_beam_search include_stop_str_in_output stream_continuous_usage_stats"),
  ...each(notEmpty, "hotwords to_language"),
};

/** Returns Ollama's fields. `shifts`: the server drops older tokens of a full context. */
export const ollamaUnsupported = (shifts: boolean): Unsupported => ({
  ...OLLAMA,
  template: notEmpty,
  truncate: unless(false),
  shift: unless(shifts),
  ...each(always, "width height steps"),
});
