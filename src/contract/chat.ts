// POST /v1/chat/completions: request, response and stream chunk.

import { FINISH_REASONS } from "../domain/usage.ts";
import { controlFields, user } from "./controls.ts";
import { ErrorObject } from "./errors.ts";
import { languages } from "./recognition.ts";
import { readInputs } from "./read-inputs.ts";
import { Counts, PromptProgress, streamOptions } from "./running.ts";
import { outputLimit } from "./sampling.ts";
import { JsonObject, nullable, oneOf, opt, optFlag, optInteger, optText, t, type Static } from "./schema.ts";
import { MOST_TOOLS } from "./tools.ts";

/** How much the model reasons; `none` turns reasoning off. */
export const Effort = oneOf("none", "minimal", "low", "medium", "high", "xhigh", "max");

const ContentPart = t.Object({
  type: oneOf("text", "image_url", "input_audio", "file", "refusal"),
  text: opt(t.String()),
  refusal: optText("Text of a part of type refusal, which an earlier answer may have."),
  image_url: opt(
    t.Union(
      [t.Object({ url: t.String(), detail: opt(oneOf("auto", "low", "high", "original")), languages }), t.String()],
      {
        description: "A string is the url.",
      },
    ),
  ),
  input_audio: opt(t.Object({ data: t.String(), format: opt(t.String()), language: opt(t.String()) })),
  file: opt(
    t.Object({
      file_data: optText("A data: URL, or a document in base64."),
      filename: opt(t.String()),
    }),
  ),
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
  role: t.Union([oneOf("system", "developer", "user", "assistant", "tool", "function")], {
    description: "developer means the same as system.",
  }),
  content: opt(t.Union([t.String(), t.Array(ContentPart)], { description: "Absent, null or no parts: empty." })),
  name: opt(t.String()),
  tool_calls: opt(t.Array(ToolCall)),
  tool_call_id: optText("With the role tool: the id of the call whose result this is."),
  function_call: opt(
    t.Object(
      { name: t.String(), arguments: opt(t.Union([t.String(), JsonObject])) },
      { description: "The older form of tool_calls; the next message of the role function has the result." },
    ),
  ),
  reasoning_content: optText("The assistant's reasoning before this answer."),
  reasoning: optText("Another name for `reasoning_content`, which takes precedence."),
});

const FunctionDefinition = t.Object({
  name: t.String({ minLength: 1, maxLength: 256 }),
  description: opt(t.String()),
  parameters: opt(JsonObject),
  strict: opt(t.Boolean()),
});

const Tool = t.Object({ type: oneOf("function", "custom"), function: opt(FunctionDefinition) });

const ToolName = t.Object({ name: t.String() });

/** One function, or `allowed_tools`: the subset of `tools` that may be called, or of which one must be called. */
const ToolChoice = t.Object({
  type: oneOf("function", "allowed_tools"),
  function: opt(ToolName),
  allowed_tools: opt(
    t.Object({
      mode: opt(oneOf("auto", "required")),
      tools: t.Array(t.Object({ type: t.Literal("function"), function: ToolName }), { maxItems: MOST_TOOLS }),
    }),
  ),
});

export const ChatCompletionRequest = t.Object({
  messages: t.Array(ChatMessage, { minItems: 1 }),
  ...controlFields,
  max_tokens: opt(outputLimit("Maximum output tokens; -1: no limit.")),
  max_completion_tokens: opt(outputLimit("Used when max_tokens is absent.")),
  n_predict: opt(outputLimit("Used when max_tokens and max_completion_tokens are absent.")),
  continue_final_message: optFlag(
    "true: the answer continues the last message, which is an assistant message. Not together with add_generation_prompt true.",
  ),
  add_generation_prompt: optFlag(
    "false: the prompt does not begin an assistant turn; a last assistant message is continued. Default true.",
  ),
  logprobs: optFlag(
    "Whether the answer has the log probabilities of its tokens. Default false. A whole answer with tool calls has none, as its content is null.",
  ),
  top_logprobs: optInteger(
    { minimum: 0, maximum: 20 },
    "Number of alternatives for each token; at most the server's --max-logprobs, and above 0 only with logprobs true.",
  ),
  stream_options: streamOptions(
    "Whether the stream ends with a usage chunk. Default true; with --stream-usage requested, default false.",
  ),
  user,
  tools: opt(t.Array(Tool, { maxItems: MOST_TOOLS })),
  tool_choice: opt(t.Union([oneOf("auto", "none", "required"), ToolChoice])),
  parallel_tool_calls: optFlag("false: at most one call. Default true."),
  functions: opt(
    t.Array(FunctionDefinition, {
      maxItems: MOST_TOOLS,
      description: "The older form of tools; answers still use tool_calls.",
    }),
  ),
  function_call: opt(t.Union([oneOf("auto", "none"), t.Object({ name: t.String() })])),
  chat_template_kwargs: opt(JsonObject),
  reasoning_effort: opt(Effort),
  reasoning: opt(
    t.Object(
      {
        effort: opt(Effort),
        enabled: optFlag("Turns reasoning on or off; used when no effort is given."),
      },
      { description: "Used when reasoning_effort is absent." },
    ),
  ),
  reasoning_budget_tokens: optInteger(
    { minimum: -1 },
    "Maximum tokens of reasoning; at the limit, reasoning is ended and the answer begins. -1: no limit.",
  ),
  thinking_token_budget: optInteger({ minimum: -1 }, "Used when reasoning_budget_tokens is absent."),
  n: optInteger({ minimum: 1, maximum: 128 }, "Number of answers; the prompt is computed once. Default 1."),
});

export type ChatCompletionRequest = Static<typeof ChatCompletionRequest>;
export type ChatMessage = Static<typeof ChatMessage>;

const tokenText = { token: t.String(), logprob: t.Number(), bytes: t.Array(t.Integer()) };

/** A token of an answer and its alternatives. */
export const TokenLogprob = t.Object({ ...tokenText, top_logprobs: t.Array(t.Object(tokenText)) });

const Logprobs = t.Object({
  content: t.Array(TokenLogprob),
  refusal: t.Null(),
});

export const Usage = t.Object({
  ...Counts.properties,
  prompt_tokens_details: t.Object({ cached_tokens: t.Integer() }),
  completion_tokens_details: t.Object({ reasoning_tokens: t.Integer() }),
  prompt_time: t.Number({ description: "Seconds." }),
  completion_time: t.Number({ description: "Seconds." }),
  total_time: t.Number({ description: "Seconds; sum of prompt_time and completion_time." }),
  prompt_tokens_per_second: t.Number({ description: "Computed prompt tokens per second; cached tokens do not count." }),
  completion_tokens_per_second: t.Number(),
  peak_memory_gib: t.Optional(
    t.Number({
      description: "Highest resident memory of the engine process in GiB while the request ran; absent if unknown.",
    }),
  ),
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

const orNull = (description: string) => nullable(t.Number(), { description });

/** A value is null when this machine cannot measure it. */
export const SvcProfile = t.Object({
  gpu_power_avg_w: orNull("Watts, mean over the samples."),
  gpu_power_peak_w: orNull("Watts, highest of the samples."),
  gpu_samples: t.Integer({ description: "Number of samples with readings of a GPU." }),
  cpu_power_avg_w: orNull("Watts of the processor packages, from their energy counters."),
  dram_power_avg_w: orNull("Watts of the memory, from its energy counters."),
  cpu_pct: orNull("Share of all CPUs that the engine process used, in percent."),
  memory_weights_gib: orNull("GiB of the model's weights."),
  memory_kv_gib: orNull("GiB allocated for the KV cache, for all requests together."),
  memory_peak_gib: t.Number({
    description: "Highest resident memory of the engine process in GiB while the request ran.",
  }),
  prefill_tok_s: orNull("Computed prompt tokens per second; cached tokens do not count."),
  decode_tok_s: orNull("Tokens per second after the first token, all choices together."),
  chip: nullable(t.String(), { description: "The device that computes." }),
  theoretical_bw_gbs: orNull("Maximum bandwidth of the GPU's memory in GB/s."),
  est_bandwidth_gbs: orNull(
    "Estimated GB/s that decoding read from memory: (weights + KV cells in use × bytes per cell) of each step without prompt tokens, divided by the time of these steps.",
  ),
});

export const SvcProfileExtended = t.Object({
  summary: SvcProfile,
  samples: t.Array(
    t.Object({
      t: t.Number({
        description: "Seconds since the request was accepted. Rates are averages since the previous sample.",
      }),
      bw_gbs: orNull("As est_bandwidth_gbs."),
      gpu_pct: orNull("Utilisation of the busiest GPU, in percent."),
      gpu_power_w: orNull("Watts of all GPUs in use."),
      cpu_pct: orNull("As cpu_pct in the summary."),
      system_cpu_pct: orNull("Share of all CPUs that all processes of the machine used, in percent."),
      cpu_power_w: orNull("As cpu_power_avg_w."),
      dram_power_w: orNull("As dram_power_avg_w."),
      memory_gib: t.Number({ description: "Resident memory of the engine process in GiB." }),
    }),
    {
      description:
        "The first sample after 0.1 s, then one every 0.3 s (less often in long requests), and the last one at the end.",
    },
  ),
});

/** A response with a profile has one of the two. */
const profiles = { svc_profile: t.Optional(SvcProfile), svc_profile_extended: t.Optional(SvcProfileExtended) };

/** The values of X-Svc-Profile, which ignores case. */
export const ProfileDetail = oneOf("true", "extended");

const FinishReason = oneOf(...FINISH_REASONS);

/** When, by which model and by which build an answer was made; the same in every chunk of a stream. */
export const origin = {
  created: t.Integer(),
  model: t.String(),
  system_fingerprint: t.Optional(t.String()),
};

/** The member of a chunk that describes a failure. */
export const streamError = t.Optional(
  t.Object(ErrorObject.properties, {
    description: "Only in the last chunk of a stream that fails, with finish_reason error.",
  }),
);

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
        content: nullable(t.String(), {
          description: "null if there are tool calls, even if the model wrote text before them.",
        }),
        refusal: t.Null({ description: "Always null: local models refuse in their content." }),
        reasoning_content: t.Optional(t.String()),
        tool_calls: t.Optional(t.Array(t.Object({ id: t.String(), type: t.Literal("function"), function: Called }))),
      }),
      logprobs: nullable(Logprobs),
      finish_reason: FinishReason,
    }),
  ),
  usage: Usage,
  timings: Timings,
  ...readInputs,
  ...profiles,
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
  ...readInputs,
  usage: t.Optional(t.Union([Usage, Counts])),
  timings: t.Optional(Timings),
  prompt_progress: t.Optional(PromptProgress),
  error: streamError,
});

/** The event between usage and `[DONE]` of a stream for which a profile was requested; it is not a chunk. */
export const ChatProfileEvent = t.Object(profiles);

export type ChatCompletion = Static<typeof ChatCompletion>;
export type ChatCounts = Static<typeof Counts>;
export type ChatUsage = Static<typeof Usage>;
export type ChatTimings = Static<typeof Timings>;
export type ChatLogprobs = Static<typeof Logprobs>;
export type SvcProfile = Static<typeof SvcProfile>;
export type SvcProfileExtended = Static<typeof SvcProfileExtended>;
export type ProfileDetail = Static<typeof ProfileDetail>;
export type ChatProfileEvent = Static<typeof ChatProfileEvent>;
