// The kinds of servers that svc supports, and the only table of the request fields that each takes.
// test/parity/UPSTREAMS.md shows how every field is handled.

import type { Sampling } from "../domain/generate.ts";
import { LLAMA_SAMPLING } from "../domain/llama-sampling.ts";

/** `openai`: any other server with an OpenAI-compatible API. */
export type ServerKind = "svc" | "llama.cpp" | "vllm" | "sglang" | "ollama" | "lm-studio" | "jan" | "mlx-lm" | "openai";

export interface ServerTraits {
  /** Sampling settings that the server takes, with the server's names for them. */
  readonly sampling: Readonly<Partial<Record<keyof Sampling, string>>>;
  /** Fields of the server's own that are passed on unchanged, with the server's names for them; absent: none. */
  readonly foreign?: Readonly<Record<string, string>>;
  /** The same for requests for vectors. */
  readonly foreignOfVectors?: Readonly<Record<string, string>>;
  /** Its list has the capabilities of each model; for other servers they must be found out. */
  readonly tellsCapabilities?: true;
  /** Takes values for the chat template, `enable_thinking` among them. */
  readonly templateKwargs?: true;
  /** How the server takes grammars, regular expressions and choices; absent: not at all. */
  readonly grammar?: "gbnf" | "structured_outputs" | "ebnf";
  /** The field for a schema with raw text; absent: none. */
  readonly rawSchema?: "json_schema" | "response_format";
  /** Enforces a schema while sampling; other servers only ask the model to follow it. */
  readonly enforcesSchemas?: true;
  /** Values of `tool_choice` that it takes beside `auto`; `none` only if its prompt then still contains the tools. */
  readonly toolChoices: readonly ("none" | "required" | "named")[];
  /** Calls that follow their tool's schema by constrained sampling: all, or only required ones; absent: none. */
  readonly enforcesCalls?: "all" | "required";
  /** Supports assistant prefill; these are the fields that request it, if any are needed. */
  readonly continueFields?: Readonly<Record<string, unknown>>;
  /** Its answer repeats the prefill. */
  readonly repeatsBeginning?: true;
  /** Can end the prompt after the last message when requested. */
  readonly generationPrompt?: true;
  /** Name of the field that limits reasoning tokens. */
  readonly reasoningBudget?: string;
  /**
   * Depending on its configuration, the server may refuse requests with such a limit, so only limits that the client
   * named are sent.
   */
  readonly mayRefuseBudgets?: true;
  /** Separates reasoning from the answer; other servers may leave `<think>` tags in it. */
  readonly separatesReasoning?: true;
  /** Takes llama.cpp's fields `cache_prompt`, `id_slot` and `t_max_predict_ms`. */
  readonly llamaFields?: true;
  /** Takes `n_keep`, the number of first tokens to keep when older ones are dropped. */
  readonly keepsTokens?: true;
  /** What its streams can report before the end: llama.cpp's timings and progress, or only usage. */
  readonly reports?: "timings" | "usage";
  /** Formats of sound that the server reads by their content, but takes only under another name. */
  readonly soundNames?: Readonly<Record<string, string>>;
  /** Gets the fields of `domain/hints`. */
  readonly hints?: true;
  /** Fills the gap between a prompt and a suffix (infill). */
  readonly suffix?: true;
}

/** Settings that every OpenAI-compatible server takes. */
const CONVENTION = {
  temperature: "temperature",
  topP: "top_p",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
  seed: "seed",
  logitBias: "logit_bias",
} as const;

const LLAMA = { ...CONVENTION, ...LLAMA_SAMPLING };

/** Settings of vLLM and SGLang, including those beyond the OpenAI-compatible API. */
const VLLM_SGLANG = {
  ...CONVENTION,
  topK: "top_k",
  minP: "min_p",
  repetitionPenalty: "repetition_penalty",
  ignoreEos: "ignore_eos",
  minTokens: "min_tokens",
} as const;

/** Returns fields that have the server's names already; each list has its names separated by spaces. */
const same = (...lists: readonly string[]): Record<string, string> =>
  Object.fromEntries(lists.flatMap((names) => names.split(" ")).map((name) => [name, name]));

const LLAMA_FOREIGN = same("n_indent n_cache_reuse min_keep n_keep n_discard adaptive_target");

const LLAMA_SERVER = {
  sampling: LLAMA,
  foreign: LLAMA_FOREIGN,
  foreignOfVectors: same("embd_normalize"),
  templateKwargs: true,
  grammar: "gbnf",
  rawSchema: "json_schema",
  enforcesSchemas: true,
  toolChoices: ["none", "required"],
  enforcesCalls: "all",
  separatesReasoning: true,
  llamaFields: true,
  reports: "timings",
} as const satisfies ServerTraits;

const TRAITS: Readonly<Record<ServerKind, ServerTraits>> = {
  svc: {
    ...LLAMA_SERVER,
    sampling: { ...LLAMA, minTokens: "min_tokens" },
    foreign: {},
    foreignOfVectors: {},
    tellsCapabilities: true,
    toolChoices: ["none", "required", "named"],
    continueFields: { continue_final_message: true },
    generationPrompt: true,
    reasoningBudget: "reasoning_budget_tokens",
    suffix: true,
  },
  "llama.cpp": {
    ...LLAMA_SERVER,
    // The server continues a last assistant turn by default.
    continueFields: {},
    repeatsBeginning: true,
    generationPrompt: true,
    keepsTokens: true,
    reasoningBudget: "reasoning_budget_tokens",
    // Older servers refuse all names but `wav` and `mp3`.
    soundNames: { flac: "wav" },
  },
  vllm: {
    reports: "usage",
    sampling: VLLM_SGLANG,
    foreign: same(
      "watermarking stop_token_ids include_stop_str_in_output skip_special_tokens spaces_between_special_tokens",
      "truncate_prompt_tokens truncation_side logprob_token_ids allowed_token_ids bad_words priority cache_salt",
      "vllm_xargs repetition_detection stream_interval include_reasoning add_special_tokens documents chat_template",
      "media_io_kwargs mm_processor_kwargs",
    ),
    foreignOfVectors: same(
      "truncate_prompt_tokens truncation_side padding add_special_tokens priority cache_salt mm_processor_kwargs",
      "use_activation normalize",
    ),
    templateKwargs: true,
    grammar: "structured_outputs",
    rawSchema: "response_format",
    enforcesSchemas: true,
    toolChoices: ["none", "required", "named"],
    enforcesCalls: "required",
    continueFields: { continue_final_message: true, add_generation_prompt: false },
    generationPrompt: true,
    reasoningBudget: "thinking_token_budget",
    mayRefuseBudgets: true,
  },
  sglang: {
    reports: "usage",
    sampling: VLLM_SGLANG,
    foreign: {
      ...same(
        "stop_token_ids stop_regex no_stop_trim skip_special_tokens lora_path custom_params custom_labels images_config",
        "extra_key ngram_corpus_id priority cache_salt stream_reasoning task max_dynamic_patch min_dynamic_patch",
        "use_audio_in_video",
      ),
      include_stop_str_in_output: "no_stop_trim",
    },
    foreignOfVectors: same("priority lora_path"),
    templateKwargs: true,
    grammar: "ebnf",
    rawSchema: "response_format",
    enforcesSchemas: true,
    toolChoices: ["none", "required", "named"],
    enforcesCalls: "required",
    continueFields: { continue_final_message: true },
  },
  ollama: {
    sampling: {
      temperature: "temperature",
      topP: "top_p",
      presencePenalty: "presence_penalty",
      frequencyPenalty: "frequency_penalty",
      seed: "seed",
      topK: "top_k",
      minP: "min_p",
      typicalP: "typical_p",
      repetitionPenalty: "repeat_penalty",
      repetitionWindow: "repeat_last_n",
    },
    tellsCapabilities: true,
    enforcesSchemas: true,
    toolChoices: [],
    // As for llama.cpp.
    continueFields: {},
    separatesReasoning: true,
    suffix: true,
  },
  "lm-studio": {
    sampling: { ...CONVENTION, topK: "top_k", minP: "min_p", repetitionPenalty: "repeat_penalty" },
    tellsCapabilities: true,
    enforcesSchemas: true,
    toolChoices: ["none", "required"],
  },
  jan: { ...LLAMA_SERVER, keepsTokens: true },
  "mlx-lm": {
    sampling: {
      ...CONVENTION,
      topK: "top_k",
      minP: "min_p",
      repetitionPenalty: "repetition_penalty",
      xtcProbability: "xtc_probability",
      xtcThreshold: "xtc_threshold",
    },
    templateKwargs: true,
    toolChoices: [],
  },
  openai: {
    sampling: CONVENTION,
    toolChoices: ["none", "required", "named"],
    hints: true,
  },
};

/** Returns the traits of this kind of server. */
export const traitsOf = (kind: ServerKind): ServerTraits => TRAITS[kind];

export const serverKinds = Object.keys(TRAITS) as ServerKind[];
