// POST /v1/responses and related routes: request, resource and items.

import { Effort, TokenLogprob } from "./chat.ts";
import { pageOf } from "./list.ts";
import { lora } from "./lora.ts";
import { Metadata } from "./metadata.ts";
import { modelName } from "./model.ts";
import { readInputs } from "./read-inputs.ts";
import { stream } from "./running.ts";
import { outputLimit, samplingFields, stop } from "./sampling.ts";
import { JsonObject, nullable, oneOf, opt, optFlag, optText, t, type Static } from "./schema.ts";
import { structuredFields } from "./structured.ts";
import { MOST_TOOLS } from "./tools.ts";

const plainTool = {
  type: t.String(),
  name: opt(t.String({ minLength: 1, maxLength: 256 })),
  description: opt(t.String()),
  parameters: opt(JsonObject),
  strict: opt(t.Boolean()),
  format: opt(
    t.Object(
      { type: t.String(), syntax: opt(t.String()), definition: opt(t.String()) },
      { description: "For a custom tool: the form of its input, as a grammar with syntax regex or lark." },
    ),
  ),
};

const tool = {
  ...plainTool,
  tools: opt(t.Array(t.Object(plainTool), { maxItems: MOST_TOOLS, description: "For a namespace: its tools." })),
};
const Tool = t.Object(tool);
/** The tools that an item adds. */
export const ItemTools = t.Array(t.Object({ ...tool, type: opt(t.String()) }));

/** `type` distinguishes items and parts. An item without one is a message if it has a role, otherwise a reference. */
export const InputItem = t.Object({
  type: optText("Default: message if there is a role, else item_reference if there is an id."),
  role: opt(oneOf("user", "assistant", "system", "developer")),
  content: opt(
    t.Unknown({
      description:
        "For a message or agent_message: a string, or parts of the types input_text, output_text, input_image, input_audio and input_file; parts of the type encrypted_content are ignored. For reasoning: parts of the type reasoning_text; without any, summary is used.",
    }),
  ),
  id: opt(t.String()),
  call_id: opt(t.String()),
  name: optText("For a call: its tool. In a function_call_output, instead of call_id."),
  namespace: optText("The namespace of the tool."),
  arguments: opt(t.Unknown({ description: "For a function_call: JSON, as a string." })),
  input: opt(t.Unknown({ description: "For a custom_tool_call: a string." })),
  output: opt(
    t.Unknown({ description: "For a function_call_output or custom_tool_call_output: a string or content parts." }),
  ),
  tools: opt(
    t.Unknown({
      description: "For additional_tools and tool_search_output: more tools, like those of the request.",
    }),
  ),
  summary: opt(t.Array(t.Object({ type: opt(t.String()), text: opt(t.String()) }))),
  encrypted_content: optText("For a compaction: the value that POST /v1/responses/compact returned."),
});

/** One tool, or `allowed_tools`: the subset of `tools` that may be called, or of which one must be called. */
const ToolChoice = t.Object({
  type: t.String(),
  name: opt(t.String()),
  namespace: opt(t.String()),
  mode: opt(oneOf("auto", "required")),
  tools: opt(
    t.Array(t.Object({ type: t.String(), name: opt(t.String()), namespace: opt(t.String()) }), {
      maxItems: MOST_TOOLS,
    }),
  ),
});

const TextFormat = t.Object({
  type: oneOf("text", "json_object", "json_schema"),
  name: opt(t.String()),
  description: opt(t.String()),
  schema: opt(JsonObject),
  strict: opt(t.Boolean()),
});

const Verbosity = oneOf("low", "medium", "high");

/** The parts of a prompt; counting its tokens needs no others. */
const prompt = {
  model: modelName,
  input: opt(t.Union([t.String(), t.Array(InputItem)])),
  instructions: optText("A system message for this turn only; not part of the stored conversation."),
  previous_response_id: opt(t.String()),
  conversation: opt(
    t.Union([t.String(), t.Object({ id: t.String() })], {
      description:
        "The conversation to continue: its items come before the input, and the input and the output are added to it. Not together with previous_response_id.",
    }),
  ),
  tools: opt(
    t.Array(Tool, {
      maxItems: MOST_TOOLS,
      description: `Functions, custom tools and namespaces of them, ${MOST_TOOLS} in all; vendor tools beside them are ignored.`,
    }),
  ),
  tool_choice: opt(t.Union([oneOf("auto", "none", "required"), ToolChoice])),
  parallel_tool_calls: opt(t.Boolean()),
  text: opt(t.Object({ format: opt(TextFormat), verbosity: opt(Verbosity) })),
  ...structuredFields,
  reasoning: opt(t.Object({ effort: opt(Effort), summary: opt(t.String()) })),
  chat_template_kwargs: opt(JsonObject),
  truncation: opt(oneOf("auto", "disabled")),
};

/** Every event of a stream that holds the response repeats it, so it is bounded. */
const label = t.String({ maxLength: 4096, description: "No effect, except that the response repeats it." });

export const ResponsesRequest = t.Object({
  ...prompt,
  ...samplingFields,
  lora,
  max_output_tokens: opt(outputLimit("Maximum output tokens; -1: no limit.")),
  stop,
  reasoning_budget_tokens: opt(t.Integer({ minimum: -1 })),
  top_logprobs: opt(t.Integer({ minimum: 0, maximum: 20 })),
  include: opt(
    t.Array(
      oneOf(
        "message.output_text.logprobs",
        "reasoning.encrypted_content",
        "message.input_image.image_url",
        "web_search_call.results",
        "web_search_call.action.sources",
        "file_search_call.results",
        "code_interpreter_call.outputs",
        "computer_call_output.output.image_url",
      ),
      { description: "Only message.output_text.logprobs has an effect." },
    ),
  ),
  stream,
  store: optFlag(
    "Whether the response is stored, so that it can be fetched and continued until it is evicted. Default true.",
  ),
  background: optFlag("true: the answer comes at once with status in_progress; fetch the result by its id."),
  metadata: opt(Metadata),
  prompt_cache_key: opt(label),
  safety_identifier: opt(label),
  user: opt(label),
});

export const CountResponseTokensRequest = t.Object(prompt);
export const CountResponseTokensResponse = t.Object({
  object: t.Literal("response.input_tokens"),
  input_tokens: t.Integer(),
});

const ItemStatus = oneOf("in_progress", "completed", "incomplete");

const OutputText = t.Object({
  type: t.Literal("output_text"),
  text: t.String(),
  annotations: t.Array(t.Unknown()),
  logprobs: t.Array(TokenLogprob),
});

const ReasoningItem = t.Object({
  id: t.String(),
  type: t.Literal("reasoning"),
  summary: t.Array(t.Object({ type: t.Literal("summary_text"), text: t.String() })),
  status: ItemStatus,
});

const MessageItem = t.Object({
  id: t.String(),
  type: t.Literal("message"),
  status: ItemStatus,
  role: t.Literal("assistant"),
  content: t.Array(OutputText),
});

const FunctionCallItem = t.Object({
  id: t.String(),
  type: t.Literal("function_call"),
  call_id: t.String(),
  name: t.String(),
  namespace: t.Optional(t.String()),
  arguments: t.String(),
  status: ItemStatus,
});

const CustomToolCallItem = t.Object({
  id: t.String(),
  type: t.Literal("custom_tool_call"),
  call_id: t.String(),
  name: t.String(),
  namespace: t.Optional(t.String()),
  input: t.String(),
  status: ItemStatus,
});

export const OutputItem = t.Union([ReasoningItem, MessageItem, FunctionCallItem, CustomToolCallItem]);

export const ResponsesUsage = t.Object({
  input_tokens: t.Integer(),
  input_tokens_details: t.Object({ cached_tokens: t.Integer(), cache_write_tokens: t.Integer() }),
  output_tokens: t.Integer(),
  output_tokens_details: t.Object({ reasoning_tokens: t.Integer() }),
  total_tokens: t.Integer(),
});

export const ResponseResource = t.Object({
  id: t.String(),
  object: t.Literal("response"),
  access_programs: t.Null(),
  created_at: t.Integer(),
  completed_at: nullable(t.Integer()),
  status: oneOf("in_progress", "completed", "incomplete", "failed", "cancelled"),
  background: t.Boolean(),
  conversation: t.Optional(t.Object({ id: t.String() })),
  error: nullable(t.Object({ code: t.String(), message: t.String() })),
  incomplete_details: nullable(t.Object({ reason: oneOf("max_output_tokens", "content_filter") })),
  instructions: nullable(t.String()),
  max_output_tokens: nullable(t.Integer()),
  max_tool_calls: nullable(t.Integer()),
  metadata: t.Record(t.String(), t.String()),
  model: t.String(),
  output: t.Array(OutputItem),
  parallel_tool_calls: t.Boolean(),
  previous_response_id: nullable(t.String()),
  prompt_cache_key: nullable(t.String()),
  reasoning: t.Object({ effort: nullable(t.String()), summary: nullable(t.String()) }),
  safety_identifier: nullable(t.String()),
  service_tier: t.String(),
  store: t.Boolean(),
  temperature: nullable(t.Number(), { description: "null: an upstream samples with its own default." }),
  text: t.Object({ format: TextFormat, verbosity: Verbosity }),
  tool_choice: t.Unknown(),
  tools: t.Array(t.Unknown()),
  top_logprobs: t.Integer(),
  top_p: nullable(t.Number()),
  presence_penalty: t.Number(),
  frequency_penalty: t.Number(),
  truncation: t.String(),
  usage: nullable(ResponsesUsage),
  user: nullable(t.String()),
  ...readInputs,
});

export const DeletedResponse = t.Object({
  id: t.String(),
  object: t.Literal("response.deleted"),
  deleted: t.Boolean(),
});

export const InputItemList = pageOf(t.Unknown());

export type InputItem = Static<typeof InputItem>;
export type ItemTool = Static<typeof ItemTools>[number];
export type ResponsesRequest = Static<typeof ResponsesRequest>;
export type ResponsesPrompt = Static<typeof CountResponseTokensRequest>;
export type ResponseResource = Static<typeof ResponseResource>;
export type OutputItem = Static<typeof OutputItem>;
export type ResponsesUsage = Static<typeof ResponsesUsage>;

/** POST /v1/responses/compact: an item that stands for the whole conversation. */
export const CompactedResponse = t.Object({
  id: t.String(),
  object: t.Literal("response.compaction"),
  created_at: t.Integer(),
  output: t.Array(t.Object({ type: t.Literal("compaction"), id: t.String(), encrypted_content: t.String() })),
  usage: ResponsesUsage,
});

export type CompactedResponse = Static<typeof CompactedResponse>;
