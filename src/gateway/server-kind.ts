// The servers that svc knows to talk to, and what of a request each can be told.

import type { Sampling } from "../domain/generate.ts";

/** `openai`: any other server of the chat completions convention. */
export type ServerKind = "svc" | "llama.cpp" | "vllm" | "ollama" | "lm-studio" | "jan" | "mlx-lm" | "openai";

export interface ServerTraits {
  /** Who owns its models in listings. */
  readonly owner: string;
  /** Sampling settings beyond those of the convention that it takes, and their names there. */
  readonly sampling: Readonly<Partial<Record<keyof Sampling, string>>>;
  /** Its list says of each model what it can do; others leave that to be found out. */
  readonly tellsCapabilities: boolean;
  /** Takes values for its chat template, `enable_thinking` among them. */
  readonly templateKwargs: boolean;
  /** Takes GBNF grammars. */
  readonly grammar: boolean;
  /** Holds answers to a schema while it samples; others are asked to, and may not. */
  readonly enforcesSchemas: boolean;
  /** Goes on from an answer that was begun; a server may need to be told so with these fields. */
  readonly continueFields?: Readonly<Record<string, unknown>>;
  /** It begins its part with what the request had begun. */
  readonly repeatsBeginning?: true;
  /** The name of a limit of reasoning in tokens. */
  readonly reasoningBudget?: string;
  /** Puts reasoning apart from the answer; others may leave `<think>` tags in it. */
  readonly separatesReasoning: boolean;
}

/** What every server of the convention takes. */
const CONVENTION = {
  temperature: "temperature",
  topP: "top_p",
  presencePenalty: "presence_penalty",
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

const TRAITS: Readonly<Record<ServerKind, Omit<ServerTraits, "owner">>> = {
  svc: {
    sampling: { ...LLAMA, minTokens: "min_tokens" },
    tellsCapabilities: true,
    templateKwargs: true,
    grammar: true,
    enforcesSchemas: true,
    continueFields: { continue_final_message: true },
    reasoningBudget: "reasoning_budget_tokens",
    separatesReasoning: true,
  },
  "llama.cpp": {
    sampling: LLAMA,
    tellsCapabilities: false,
    templateKwargs: true,
    grammar: true,
    enforcesSchemas: true,
    // It goes on from a last turn of the assistant unasked.
    continueFields: {},
    repeatsBeginning: true,
    reasoningBudget: "reasoning_budget_tokens",
    separatesReasoning: true,
  },
  vllm: {
    sampling: {
      ...CONVENTION,
      topK: "top_k",
      minP: "min_p",
      repetitionPenalty: "repetition_penalty",
      ignoreEos: "ignore_eos",
      minTokens: "min_tokens",
    },
    tellsCapabilities: false,
    templateKwargs: true,
    grammar: false,
    enforcesSchemas: true,
    continueFields: { continue_final_message: true, add_generation_prompt: false },
    separatesReasoning: false,
  },
  ollama: {
    sampling: {
      temperature: "temperature",
      topP: "top_p",
      presencePenalty: "presence_penalty",
      seed: "seed",
      topK: "top_k",
      minP: "min_p",
      typicalP: "typical_p",
      repetitionPenalty: "repeat_penalty",
      repetitionWindow: "repeat_last_n",
    },
    tellsCapabilities: true,
    templateKwargs: false,
    grammar: false,
    enforcesSchemas: true,
    // As llama.cpp.
    continueFields: {},
    separatesReasoning: true,
  },
  "lm-studio": {
    sampling: { ...CONVENTION, topK: "top_k", minP: "min_p", repetitionPenalty: "repeat_penalty" },
    tellsCapabilities: true,
    templateKwargs: false,
    grammar: false,
    enforcesSchemas: true,
    separatesReasoning: false,
  },
  jan: {
    sampling: LLAMA,
    tellsCapabilities: false,
    templateKwargs: true,
    grammar: true,
    enforcesSchemas: true,
    separatesReasoning: true,
  },
  "mlx-lm": {
    sampling: {
      ...CONVENTION,
      topK: "top_k",
      minP: "min_p",
      repetitionPenalty: "repetition_penalty",
      xtcProbability: "xtc_probability",
      xtcThreshold: "xtc_threshold",
    },
    tellsCapabilities: false,
    templateKwargs: true,
    grammar: false,
    enforcesSchemas: false,
    separatesReasoning: false,
  },
  openai: {
    sampling: CONVENTION,
    tellsCapabilities: false,
    templateKwargs: false,
    grammar: false,
    enforcesSchemas: false,
    separatesReasoning: false,
  },
};

const OWNERS: Partial<Record<ServerKind, string>> = { "llama.cpp": "llamacpp", "lm-studio": "lmstudio" };

/** What is known of servers of this kind. */
export const traitsOf = (kind: ServerKind): ServerTraits => ({ owner: OWNERS[kind] ?? kind, ...TRAITS[kind] });
