// POST /v1/messages and POST /v1/messages/count_tokens: request, response and stream events.

import { modelName } from "./model.ts";
import { readInputs } from "./read-inputs.ts";
import { stream } from "./running.ts";
import { SamplingFields, stopSequences } from "./sampling.ts";
import { JsonObject, nullable, oneOf, opt, optFlag, optText, t, type Static } from "./schema.ts";
import { MOST_TOOLS } from "./tools.ts";

const TextBlock = t.Object({ type: t.Literal("text"), text: t.String() });

const Source = t.Object({
  type: oneOf("base64", "url", "text", "content", "file"),
  media_type: opt(t.String()),
  data: opt(t.String()),
  url: opt(t.String()),
  content: opt(t.Unknown()),
});

/** `type` distinguishes the blocks; the decoder refuses unknown types by name. */
const block = {
  type: t.String(),
  text: opt(t.String()),
  source: opt(
    t.Union([Source, t.String()], {
      description: "In a search_result: a string that names where the result was found.",
    }),
  ),
  title: opt(t.String()),
  context: opt(t.String()),
  thinking: opt(t.String()),
  id: opt(t.String()),
  name: opt(t.String()),
  input: opt(JsonObject),
  tool_use_id: opt(t.String()),
  tool_name: optText("For a tool_reference in a tool_result: the name of a tool of this request."),
  is_error: opt(t.Boolean()),
};

const TextOnly = t.Object({ type: t.String(), text: opt(t.String()) });

const InnerBlock = t.Object({
  ...block,
  content: opt(t.Union([t.String(), t.Array(TextOnly)], { description: "For a search_result: blocks of text." })),
});

const Block = t.Object({
  ...block,
  content: opt(
    t.Union([t.String(), t.Array(InnerBlock), JsonObject], {
      description:
        "For a tool_result: a string, or blocks of text, images, documents, search_results and tool_references. For a search_result: blocks of text. Only results of server tools, which are ignored, may be objects.",
    }),
  ),
});

const Content = t.Union([t.String(), t.Array(Block)]);

const Message = t.Object({ role: oneOf("user", "assistant", "system"), content: Content });

const Tool = t.Object({
  type: opt(t.String()),
  name: t.String({ minLength: 1, maxLength: 256 }),
  description: opt(t.String()),
  input_schema: opt(JsonObject),
  strict: opt(t.Boolean()),
  defer_loading: optFlag("true: the tool is hidden from the model until a tool_reference names it."),
});

const ToolChoice = t.Object({
  type: oneOf("auto", "any", "tool", "none"),
  name: opt(t.String()),
  disable_parallel_tool_use: opt(t.Boolean()),
});

const Thinking = t.Object({
  type: oneOf("enabled", "adaptive", "between_tools", "disabled"),
  budget_tokens: opt(t.Integer({ minimum: 1 })),
  display: optText("No effect: all thoughts are returned."),
});

const OutputFormat = t.Object({ type: t.Literal("json_schema"), schema: JsonObject });

const OutputConfig = t.Object({
  effort: opt(oneOf("low", "medium", "high", "xhigh", "max")),
  format: opt(OutputFormat),
});

/** The parts of a prompt; counting its tokens needs no others. */
const prompt = {
  model: modelName,
  messages: t.Array(Message, { minItems: 1 }),
  system: opt(t.Union([t.String(), t.Array(TextBlock)])),
  tools: opt(t.Array(Tool, { maxItems: MOST_TOOLS })),
  tool_choice: opt(ToolChoice),
  thinking: opt(Thinking),
  output_config: opt(OutputConfig),
  output_format: opt(OutputFormat),
  chat_template_kwargs: opt(JsonObject),
};

export const MessagesRequest = t.Object({
  ...prompt,
  max_tokens: t.Integer({
    minimum: 0,
    description: "0: the prompt is computed and cached for later requests, without an answer.",
  }),
  stop_sequences: opt(stopSequences),
  stream,
  ...t.Pick(SamplingFields, ["temperature", "top_p", "top_k"]).properties,
  metadata: opt(JsonObject),
});

export const CountMessageTokensRequest = t.Object(prompt);
export const CountMessageTokensResponse = t.Object({ input_tokens: t.Integer(), model: t.String() });

const ThinkingBlockOut = t.Object({ type: t.Literal("thinking"), thinking: t.String(), signature: t.String() });
const ToolUseBlockOut = t.Object({
  type: t.Literal("tool_use"),
  id: t.String(),
  name: t.String(),
  input: t.Record(t.String(), t.Unknown()),
  caller: t.Object({ type: t.Literal("direct") }),
});

const MessagesCounts = t.Object({
  input_tokens: t.Integer({
    description: "Computed prompt tokens; cached tokens are counted in cache_read_input_tokens.",
  }),
  cache_creation_input_tokens: t.Integer(),
  cache_read_input_tokens: t.Integer(),
  output_tokens: t.Integer(),
  output_tokens_details: t.Object({ thinking_tokens: t.Integer() }),
  server_tool_use: t.Null(),
});

const MessagesUsage = t.Object({
  ...MessagesCounts.properties,
  cache_creation: t.Null(),
  inference_geo: t.Null(),
  service_tier: t.Null(),
  speed: t.Null(),
});

const StopReason = oneOf(
  "end_turn",
  "max_tokens",
  "stop_sequence",
  "tool_use",
  "model_context_window_exceeded",
  "refusal",
);

const MessagesEnd = t.Object({
  stop_reason: nullable(StopReason),
  stop_sequence: nullable(t.String()),
  stop_details: t.Null(),
  container: t.Null(),
});

/** Keys that are always null belong to features that svc lacks; clients of the Messages API expect them. */
export const MessagesResponse = t.Object({
  id: t.String(),
  type: t.Literal("message"),
  role: t.Literal("assistant"),
  model: t.String(),
  content: t.Array(t.Union([TextBlock, ThinkingBlockOut, ToolUseBlockOut])),
  ...MessagesEnd.properties,
  diagnostics: t.Null(),
  usage: MessagesUsage,
  ...readInputs,
});

export type MessagesPrompt = Static<typeof CountMessageTokensRequest>;
export type MessagesBlock = Static<typeof Block>;
export type MessagesResponse = Static<typeof MessagesResponse>;
export type MessagesEnd = Static<typeof MessagesEnd>;
export type MessagesCounts = Static<typeof MessagesCounts>;
