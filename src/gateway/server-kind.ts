// The servers that svc knows to talk to, and which fields of a request each takes: the one table of it. test/parity/UPSTREAMS.md
// shows what becomes of every field.

import type { Sampling } from "../domain/generate.ts";

/** `openai`: any other server of the chat completions convention. */
export type ServerKind = "svc" | "llama.cpp" | "vllm" | "sglang" | "ollama" | "lm-studio" | "jan" | "mlx-lm" | "openai";

export interface ServerTraits {
  /** Who owns its models in listings. */
  readonly owner: string;
  /** Sampling settings that it takes, and their names there. */
  readonly sampling: Readonly<Partial<Record<keyof Sampling, string>>>;
  /** Fields of its own that are passed on as they are, and their names there. */
  readonly foreign: Readonly<Record<string, string>>;
  /** The same, of requests for vectors. */
  readonly foreignOfVectors?: Readonly<Record<string, string>>;
  /** Its list says of each model what it can do; others leave that to be found out. */
  readonly tellsCapabilities?: true;
  /** Takes values for its chat template, `enable_thinking` among them. */
  readonly templateKwargs?: true;
  /** How it takes grammars, regular expressions and choices; absent: it does not. */
  readonly grammar?: "gbnf" | "structured_outputs" | "ebnf";
  /** The field in which it takes a schema for raw text; absent: it does not. */
  readonly rawSchema?: "json_schema" | "response_format";
  /** Holds answers to a schema while it samples; others are asked to, and may not. */
  readonly enforcesSchemas?: true;
  /** What of `tool_choice` it takes beside `auto`: with `none` its prompt has the tools all the same. */
  readonly toolChoices: readonly ("none" | "required" | "named")[];
  /** Which calls it holds to their tool's schema while it samples: those that it has to make, or those of its own choice, too; absent: none. */
  readonly enforcesCalls?: "all" | "required";
  /** Goes on from an answer that was begun; a server may need to be told so with these fields. */
  readonly continueFields?: Readonly<Record<string, unknown>>;
  /** It begins its part with what the request had begun. */
  readonly repeatsBeginning?: true;
  /** Ends its prompt behind the last message where the request wants that. */
  readonly generationPrompt?: true;
  /** The name of a limit of reasoning in tokens. */
  readonly reasoningBudget?: string;
  /** How it was started says whether it takes such a limit or refuses the request: it is told those alone that a client named. */
  readonly mayRefuseBudgets?: true;
  /** Puts reasoning apart from the answer; others may leave `<think>` tags in it. */
  readonly separatesReasoning?: true;
  /** Fields that have it compute the whole prompt. */
  readonly freshFields?: Readonly<Record<string, unknown>>;
  /** The name of the slot that holds a request's tokens afterwards. */
  readonly slot?: string;
  /** The name of a limit of an answer in milliseconds. */
  readonly predictMs?: string;
  /** The name of how many first tokens stay where it drops older ones. */
  readonly keepTokens?: string;
  /** What its streams can report of an answer that is not over: llama.cpp's timings and progress, or its usage alone. */
  readonly reports?: "timings" | "usage";
  /** Fills the gap between a prompt and a suffix. */
  readonly suffix?: true;
}

/** What every server of the convention takes. */
const CONVENTION = {
  temperature: "temperature",
  topP: "top_p",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
  seed: "seed",
  logitBias: "logit_bias",
} as const;

const LLAMA = {
  ...CONVENTION,
  topK: "top_k",
  minP: "min_p",
  typicalP: "typical_p",
  topNSigma: "top_n_sigma",
  xtcProbability: "xtc_probability",
  xtcThreshold: "xtc_threshold",
  dynatempRange: "dynatemp_range",
  dynatempExponent: "dynatemp_exponent",
  repetitionPenalty: "repeat_penalty",
  repetitionWindow: "repeat_last_n",
  dryMultiplier: "dry_multiplier",
  dryBase: "dry_base",
  dryAllowedLength: "dry_allowed_length",
  dryPenaltyLastN: "dry_penalty_last_n",
  drySequenceBreakers: "dry_sequence_breakers",
  mirostat: "mirostat",
  mirostatTau: "mirostat_tau",
  mirostatEta: "mirostat_eta",
  ignoreEos: "ignore_eos",
} as const;

/** What vLLM and SGLang take beyond the convention. */
const CLUSTER = {
  ...CONVENTION,
  topK: "top_k",
  minP: "min_p",
  repetitionPenalty: "repetition_penalty",
  ignoreEos: "ignore_eos",
  minTokens: "min_tokens",
} as const;

const same = (...names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, name]));

const LLAMA_FOREIGN = same("n_indent", "n_cache_reuse", "min_keep", "n_keep", "n_discard", "adaptive_target");

/** Of a server that takes no fields of its own, there are none. */
type Traits = Omit<ServerTraits, "owner" | "foreign"> & Partial<Pick<ServerTraits, "foreign">>;

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
  freshFields: { cache_prompt: false },
  slot: "id_slot",
  predictMs: "t_max_predict_ms",
  reports: "timings",
} as const satisfies Traits;

const TRAITS: Readonly<Record<ServerKind, Traits>> = {
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
    // It goes on from a last turn of the assistant unasked.
    continueFields: {},
    repeatsBeginning: true,
    generationPrompt: true,
    keepTokens: "n_keep",
    reasoningBudget: "reasoning_budget_tokens",
  },
  vllm: {
    reports: "usage",
    sampling: CLUSTER,
    foreign: same(
      "watermarking",
      "stop_token_ids",
      "include_stop_str_in_output",
      "skip_special_tokens",
      "spaces_between_special_tokens",
      "truncate_prompt_tokens",
      "truncation_side",
      "logprob_token_ids",
      "allowed_token_ids",
      "bad_words",
      "priority",
      "cache_salt",
      "vllm_xargs",
      "repetition_detection",
      "stream_interval",
      "include_reasoning",
      "add_special_tokens",
      "documents",
      "chat_template",
      "media_io_kwargs",
      "mm_processor_kwargs",
    ),
    foreignOfVectors: same(
      "truncate_prompt_tokens",
      "truncation_side",
      "padding",
      "add_special_tokens",
      "priority",
      "cache_salt",
      "mm_processor_kwargs",
      "use_activation",
      "normalize",
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
    sampling: CLUSTER,
    foreign: {
      ...same(
        "stop_token_ids",
        "stop_regex",
        "no_stop_trim",
        "skip_special_tokens",
        "lora_path",
        "custom_params",
        "custom_labels",
        "images_config",
        "extra_key",
        "ngram_corpus_id",
        "priority",
        "cache_salt",
        "stream_reasoning",
        "task",
        "max_dynamic_patch",
        "min_dynamic_patch",
        "use_audio_in_video",
      ),
      include_stop_str_in_output: "no_stop_trim",
    },
    foreignOfVectors: same("priority", "lora_path"),
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
    // As llama.cpp.
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
  jan: { ...LLAMA_SERVER, keepTokens: "n_keep" },
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
  },
};

const OWNERS: Partial<Record<ServerKind, string>> = { "llama.cpp": "llamacpp", "lm-studio": "lmstudio" };

/** What is known of servers of this kind. */
export const traitsOf = (kind: ServerKind): ServerTraits => ({
  owner: OWNERS[kind] ?? kind,
  foreign: {},
  ...TRAITS[kind],
});

export const serverKinds = Object.keys(TRAITS) as ServerKind[];
