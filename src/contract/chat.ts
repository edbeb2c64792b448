// POST /v1/chat/completions: request, response and stream chunk.

import { grammar, samplingFields, stop } from "./sampling.ts";
import { JsonObject, oneOf, opt, t, type Static } from "./schema.ts";

const ContentPart = t.Object({
  type: oneOf("text", "image_url", "input_audio"),
  text: opt(t.String()),
  image_url: opt(t.Object({ url: t.String(), detail: opt(oneOf("auto", "low", "high")) })),
  input_audio: opt(t.Object({ data: t.String(), format: opt(t.String()), language: opt(t.String()) })),
});

const ToolCall = t.Object({
  id: t.String(),
  type: opt(t.Literal("function")),
  function: t.Object({
    name: t.String(),
    arguments: opt(t.Union([t.String(), JsonObject], { description: "JSON text, or the object itself." })),
  }),
});

export const ChatMessage = t.Object({
  role: oneOf("system", "developer", "user", "assistant", "tool"),
  content: opt(t.Union([t.String(), t.Array(ContentPart, { minItems: 1 })])),
  name: opt(t.String()),
  tool_calls: opt(t.Array(ToolCall)),
  tool_call_id: opt(t.String()),
  reasoning_content: opt(t.String({ description: "What the assistant thought before this answer." })),
});

const FunctionDefinition = t.Object({
  name: t.String({ minLength: 1, maxLength: 256 }),
  description: opt(t.String()),
  parameters: opt(JsonObject),
  strict: opt(t.Boolean()),
});

const Tool = t.Object({ type: oneOf("function", "custom"), function: opt(FunctionDefinition) });

const NamedTool = t.Object({ type: t.Literal("function"), function: t.Object({ name: t.String() }) });

const ResponseFormat = t.Object({
  type: oneOf("text", "json_object", "json_schema"),
  json_schema: opt(
    t.Object({
      name: opt(t.String()),
      description: opt(t.String()),
      schema: opt(JsonObject),
      strict: opt(t.Boolean()),
    }),
  ),
});

const Count = t.Integer({ minimum: 1 });

export const ChatCompletionRequest = t.Object({
  model: opt(t.String({ description: "Any name: the one loaded model answers." })),
  messages: t.Array(ChatMessage, { minItems: 1 }),
  ...samplingFields,
  max_tokens: opt(Count),
  max_completion_tokens: opt(t.Integer({ minimum: 1, description: "Used when max_tokens is absent." })),
  logprobs: opt(t.Boolean()),
  top_logprobs: opt(t.Integer({ minimum: 0, maximum: 20 })),
  stop,
  stream: opt(t.Boolean()),
  stream_options: opt(t.Object({ include_usage: opt(t.Boolean({ description: "Default true." })) })),
  user: opt(t.String()),
  tools: opt(t.Array(Tool, { maxItems: 1024 })),
  tool_choice: opt(t.Union([oneOf("auto", "none", "required"), NamedTool])),
  parallel_tool_calls: opt(t.Boolean({ description: "false: at most one call. Default true." })),
  functions: opt(t.Array(FunctionDefinition, { description: "The older form of tools; answers use tool_calls." })),
  function_call: opt(t.Union([oneOf("auto", "none"), t.Object({ name: t.String() })])),
  response_format: opt(ResponseFormat),
  grammar,
  chat_template_kwargs: opt(JsonObject),
  reasoning_effort: opt(oneOf("none", "minimal", "low", "medium", "high", "xhigh", "max")),
  reasoning_budget_tokens: opt(
    t.Integer({ minimum: -1, description: "Tokens of reasoning after which it is ended; -1 is without limit." }),
  ),
  n: opt(t.Integer({ minimum: 1, maximum: 128, description: "Answers wanted; the prompt is computed once." })),
});

export type ChatCompletionRequest = Static<typeof ChatCompletionRequest>;
export type ChatMessage = Static<typeof ChatMessage>;
export type ChatFunction = Static<typeof FunctionDefinition>;

const tokenText = { token: t.String(), logprob: t.Number(), bytes: t.Array(t.Integer()) };

/** A token of an answer and what could have stood in its place. */
export const TokenLogprob = t.Object({ ...tokenText, top_logprobs: t.Array(t.Object(tokenText)) });

export const Logprobs = t.Object({
  content: t.Array(TokenLogprob),
  refusal: t.Null(),
});

export const Usage = t.Object({
  prompt_tokens: t.Integer(),
  completion_tokens: t.Integer(),
  total_tokens: t.Integer(),
  prompt_tokens_details: t.Object({ cached_tokens: t.Integer() }),
  completion_tokens_details: t.Object({ reasoning_tokens: t.Integer() }),
  prompt_time: t.Number({ description: "Seconds." }),
  completion_time: t.Number({ description: "Seconds." }),
  total_time: t.Number({ description: "Seconds; prompt_time and completion_time together." }),
  prompt_tokens_per_second: t.Number({ description: "Computed prompt tokens; cached ones do not count." }),
  completion_tokens_per_second: t.Number(),
  peak_memory_gib: t.Number({ description: "Highest resident memory of the engine while the request ran." }),
});

export const Timings = t.Object({
  cache_n: t.Integer(),
  prompt_n: t.Integer(),
  prompt_ms: t.Number(),
  prompt_per_token_ms: t.Number(),
  prompt_per_second: t.Number(),
  predicted_n: t.Integer(),
  predicted_ms: t.Number(),
  predicted_per_token_ms: t.Number(),
  predicted_per_second: t.Number(),
});

const FinishReason = oneOf("stop", "length", "tool_calls", "cancelled");

/** When, by which model and by which build an answer was made: the same in every chunk of a stream. */
const origin = {
  created: t.Integer(),
  model: t.String(),
  system_fingerprint: t.Optional(t.String()),
};

const Called = t.Object({ name: t.String(), arguments: t.String() });

const ToolCallDelta = t.Object({
  index: t.Integer(),
  id: t.Optional(t.String()),
  type: t.Optional(t.Literal("function")),
  function: t.Partial(Called),
});

export const ChatCompletion = t.Object({
  id: t.String(),
  object: t.Literal("chat.completion"),
  ...origin,
  choices: t.Array(
    t.Object({
      index: t.Integer(),
      message: t.Object({
        role: t.Literal("assistant"),
        content: t.Union([t.String(), t.Null()]),
        refusal: t.Null({ description: "Always null: models that run here refuse in plain words." }),
        reasoning_content: t.Optional(t.String()),
        tool_calls: t.Optional(t.Array(t.Object({ id: t.String(), type: t.Literal("function"), function: Called }))),
      }),
      logprobs: t.Union([Logprobs, t.Null()]),
      finish_reason: FinishReason,
    }),
  ),
  usage: Usage,
  timings: Timings,
});

export const ChatCompletionChunk = t.Object({
  id: t.String(),
  object: t.Literal("chat.completion.chunk"),
  ...origin,
  choices: t.Array(
    t.Object({
      index: t.Integer(),
      delta: t.Object({
        role: t.Optional(t.Literal("assistant")),
        content: t.Optional(t.String()),
        reasoning_content: t.Optional(t.String()),
        tool_calls: t.Optional(t.Array(ToolCallDelta)),
      }),
      logprobs: t.Optional(Logprobs),
      finish_reason: t.Union([FinishReason, t.Literal("error"), t.Null()]),
    }),
  ),
  usage: t.Optional(Usage),
  timings: t.Optional(Timings),
});

export type ChatCompletion = Static<typeof ChatCompletion>;
export type ChatUsage = Static<typeof Usage>;
export type ChatTimings = Static<typeof Timings>;
export type ChatLogprobs = Static<typeof Logprobs>;
