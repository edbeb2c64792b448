// Ollama's API, for tools that support no other: POST /api/chat, /api/generate, and the routes that they query first.

import { TokenLogprob } from "./chat.ts";
import { modelName } from "./model.ts";
import { readInputs } from "./read-inputs.ts";
import { SamplingFields, stop } from "./sampling.ts";
import { JsonObject, oneOf, opt, optFlag, optInteger, optText, t, type Static } from "./schema.ts";
import { TokenId } from "./token-ids.ts";
import { MOST_TOOLS } from "./tools.ts";

const ToolCall = t.Object({
  id: t.String(),
  function: t.Object({ index: t.Integer(), name: t.String(), arguments: JsonObject }),
});

const Message = t.Object({
  role: oneOf("system", "user", "assistant", "tool"),
  content: opt(t.String()),
  thinking: opt(t.String()),
  images: opt(t.Array(t.String({ description: "Base64." }))),
  tool_calls: opt(
    t.Array(t.Object({ id: opt(t.String()), function: t.Object({ name: t.String(), arguments: opt(JsonObject) }) })),
  ),
  tool_name: opt(t.String()),
  tool_call_id: optText(
    "The call that a result answers; without it, the first unanswered call of tool_name, or else the first unanswered one.",
  ),
});

const Tool = t.Object({
  type: opt(t.String()),
  function: t.Object({
    name: t.String({ minLength: 1, maxLength: 256 }),
    description: opt(t.String()),
    parameters: opt(JsonObject),
  }),
});

/** Options that have an effect here; others are ignored, as Ollama's own server does. */
export const OllamaOptions = t.Object({
  num_keep: optInteger({ minimum: -1 }, "With --context-shift: number of first tokens to keep; -1: the whole prompt."),
  num_predict: opt(t.Integer({ description: "Maximum output tokens; 0 or negative: the remaining context." })),
  ...t.Pick(SamplingFields, ["temperature", "top_k", "top_p", "min_p", "typical_p", "repeat_penalty"]).properties,
  ...t.Pick(SamplingFields, ["repeat_last_n", "presence_penalty", "mirostat", "mirostat_tau", "mirostat_eta", "seed"])
    .properties,
  stop,
});

export const keepAlive = opt(
  t.Union([t.Number(), t.String()], {
    description:
      "Only 0 has an effect. Without a prompt it unloads the model, if that is idle and not the one of --model, which stays loaded: `done_reason` is `unload` or `load`.",
  }),
);

const common = {
  model: modelName,
  format: opt(t.Union([t.String({ description: '"json" or empty; as an object, a JSON schema.' }), JsonObject])),
  options: opt(OllamaOptions),
  stream: optFlag("Default true."),
  think: opt(t.Union([t.Boolean(), oneOf("low", "medium", "high", "max")])),
  logprobs: opt(t.Boolean()),
  top_logprobs: opt(t.Integer({ minimum: 0, maximum: 20 })),
  keep_alive: keepAlive,
};

export const OllamaChatRequest = t.Object({
  messages: opt(t.Array(Message)),
  tools: opt(t.Array(Tool, { maxItems: MOST_TOOLS })),
  ...common,
});

export const OllamaGenerateRequest = t.Object({
  prompt: opt(t.String()),
  suffix: opt(t.String()),
  images: opt(t.Array(t.String({ description: "Base64." }))),
  system: opt(t.String()),
  context: opt(
    t.Array(TokenId, {
      maxItems: 1_000_000,
      description: "The context of an earlier answer, whose conversation is continued.",
    }),
  ),
  raw: optFlag("true: the prompt is not put into the chat template."),
  ...common,
});

export const OllamaShowRequest = t.Object({
  model: opt(t.String()),
  name: opt(t.String()),
  verbose: optFlag("Must not be true: model_info has no lists of tokens."),
});

/** An answer, or a line of a stream. Durations are in nanoseconds. */
export const OllamaAnswer = t.Object({
  model: t.String(),
  created_at: t.String(),
  message: t.Optional(
    t.Object({
      role: t.Literal("assistant"),
      content: t.String(),
      thinking: t.Optional(t.String()),
      tool_calls: t.Optional(t.Array(ToolCall)),
    }),
  ),
  response: t.Optional(t.String()),
  thinking: t.Optional(t.String()),
  logprobs: t.Optional(t.Array(TokenLogprob)),
  done: t.Boolean(),
  done_reason: t.Optional(t.String()),
  total_duration: t.Optional(t.Integer()),
  load_duration: t.Optional(t.Integer()),
  context: t.Optional(t.Array(t.Integer({ description: "Tokens of the conversation; only for /api/generate." }))),
  prompt_eval_count: t.Optional(t.Integer()),
  prompt_eval_duration: t.Optional(t.Integer()),
  eval_count: t.Optional(t.Integer()),
  eval_duration: t.Optional(t.Integer()),
  ...readInputs,
});

export type OllamaChatRequest = Static<typeof OllamaChatRequest>;
export type OllamaAnswer = Static<typeof OllamaAnswer>;

const Details = t.Object({
  parent_model: t.String(),
  format: t.String(),
  family: t.String(),
  families: t.Array(t.String()),
  parameter_size: t.String(),
  quantization_level: t.String(),
});

export const OllamaModels = t.Object({
  models: t.Array(
    t.Object({
      name: t.String(),
      model: t.String(),
      modified_at: t.String(),
      size: t.Integer({ description: "Bytes of the weights." }),
      digest: t.String(),
      details: Details,
      expires_at: t.Optional(t.String()),
      size_vram: t.Optional(t.Integer()),
      context_length: t.Optional(t.Integer()),
    }),
  ),
});

export const OllamaModel = t.Object({
  license: t.String(),
  modelfile: t.String({ description: "Always empty." }),
  parameters: t.String({ description: "Default settings of requests, one per line." }),
  template: t.String({ description: "The chat template, in Jinja." }),
  modified_at: t.String(),
  details: Details,
  model_info: JsonObject,
  capabilities: t.Array(t.String()),
});

export const OllamaVersion = t.Object({
  version: t.String({ description: "The supported version of Ollama's API; clients refuse to talk to older servers." }),
  svc: t.String({ description: "The version of svc." }),
});
