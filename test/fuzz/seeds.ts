// Valid requests that use every feature of an API, small enough for a real model to answer quickly.

import { MARK, name, PIXEL, sampling, schema, user } from "./seed-parts.ts";
import type { TargetName } from "./targets.ts";

export type Seed = Readonly<Record<string, unknown>>;

const chatTool = { type: "function", function: { name, description: MARK, parameters: schema, strict: true } };
const chatCall = { id: `call_${MARK}`, type: "function", function: { name, arguments: `{"n":1}` } };
const chatHistory = [
  { role: "system", content: MARK },
  { role: "developer", content: [{ type: "text", text: MARK }] },
  user,
  { role: "assistant", content: null, reasoning_content: MARK, tool_calls: [chatCall] },
  { role: "tool", tool_call_id: chatCall.id, name, content: MARK },
];

const chat: readonly Seed[] = [
  {
    model: MARK,
    messages: chatHistory,
    max_tokens: 4,
    stream: true,
    stream_options: { include_usage: true },
    user: MARK,
  },
  { messages: [user], max_completion_tokens: 4, ...sampling, logprobs: true, top_logprobs: 2, stop: [MARK, "x"], n: 2 },
  { messages: [user], max_tokens: 4, tools: [chatTool], tool_choice: "required", parallel_tool_calls: false },
  {
    messages: [user],
    max_tokens: 4,
    tools: [chatTool],
    tool_choice: { type: "function", function: { name } },
    stream: true,
  },
  { messages: [user], max_tokens: 4, functions: [chatTool.function], function_call: { name } },
  {
    messages: [user],
    max_tokens: 4,
    response_format: { type: "json_schema", json_schema: { name: MARK, description: MARK, strict: true, schema } },
  },
  { messages: [user], max_tokens: 4, response_format: { type: "json_object" }, stream: true },
  { messages: [user], max_tokens: 4, grammar: `root ::= "${MARK}" | [a-z]+` },
  {
    messages: [user],
    max_tokens: 8,
    reasoning_effort: "low",
    reasoning_budget_tokens: 2,
    chat_template_kwargs: { enable_thinking: true, [MARK]: MARK },
    stream: true,
  },
  {
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: MARK },
          { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}`, detail: "low" } },
        ],
      },
    ],
    max_tokens: 4,
  },
];

const completions: readonly Seed[] = [
  { model: MARK, prompt: MARK, max_tokens: 4, ...sampling, stop: MARK, user: MARK },
  { prompt: ["a", MARK], n: 2, best_of: 3, max_tokens: 4, logprobs: 2 },
  { prompt: [1, 2, 3], max_tokens: 4, stream: true, stream_options: { include_usage: true }, logprobs: 1 },
  { prompt: [[1, 2], [3]], max_tokens: 4, stream: true },
  { prompt: MARK, echo: true, max_tokens: 0 },
  { prompt: MARK, suffix: MARK, max_tokens: 4 },
  { prompt: MARK, grammar: `root ::= [a-z]+`, max_tokens: 4 },
];

const messagesTool = { name, description: MARK, input_schema: schema, strict: true };
const messages: readonly Seed[] = [
  {
    model: MARK,
    max_tokens: 4,
    system: [{ type: "text", text: MARK, cache_control: { type: "ephemeral" } }],
    messages: [
      user,
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: MARK, signature: "" },
          { type: "redacted_thinking", data: MARK },
          { type: "text", text: MARK },
          { type: "tool_use", id: `toolu_${MARK}`, name, input: { n: 1, [MARK]: MARK } },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: `toolu_${MARK}`,
            is_error: true,
            content: [{ type: "text", text: MARK }],
          },
          { type: "text", text: MARK },
          {
            type: "document",
            title: MARK,
            context: MARK,
            source: { type: "text", media_type: "text/plain", data: MARK },
          },
        ],
      },
    ],
    metadata: { user_id: MARK },
    stream: true,
  },
  { max_tokens: 4, messages: [user], tools: [messagesTool], tool_choice: { type: "tool", name }, stream: true },
  {
    max_tokens: 4,
    messages: [user],
    tools: [messagesTool],
    tool_choice: { type: "any", disable_parallel_tool_use: true },
  },
  {
    max_tokens: 8,
    messages: [user],
    thinking: { type: "enabled", budget_tokens: 2, display: "summarized" },
    stream: true,
  },
  {
    max_tokens: 4,
    messages: [user, { role: "system", content: MARK }, user],
    output_config: { effort: "low", format: { type: "json_schema", schema } },
  },
  {
    max_tokens: 4,
    system: MARK,
    messages: [user, { role: "assistant", content: "I" }],
    stop_sequences: [MARK],
    temperature: 0.5,
    top_p: 0.9,
    top_k: 5,
  },
  {
    max_tokens: 4,
    messages: [
      { role: "user", content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } }] },
    ],
  },
];

const responsesTool = { type: "function", name, description: MARK, parameters: schema, strict: true };
const responses: readonly Seed[] = [
  {
    model: MARK,
    input: MARK,
    instructions: MARK,
    max_output_tokens: 4,
    metadata: { [MARK]: MARK },
    user: MARK,
    stream: true,
  },
  {
    input: [
      { type: "message", role: "developer", content: [{ type: "input_text", text: MARK }] },
      { role: "user", content: [{ type: "input_text", text: MARK }] },
      { type: "reasoning", id: `rs_${MARK}`, summary: [{ type: "summary_text", text: MARK }] },
      { type: "function_call", id: `fc_${MARK}`, call_id: MARK, name, arguments: '{"n":1}' },
      { type: "function_call_output", call_id: MARK, output: [{ type: "input_text", text: MARK }] },
      { type: "custom_tool_call", call_id: `c${MARK}`, name, input: MARK },
      { type: "custom_tool_call_output", call_id: `c${MARK}`, output: MARK },
      { type: "additional_tools", role: "developer", tools: [{ type: "custom", name, description: MARK }] },
      { type: "agent_message", author: MARK, recipient: MARK, content: [{ type: "input_text", text: MARK }] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: MARK, annotations: [] }] },
      { role: "user", content: [{ type: "input_file", filename: MARK, file_data: "data:text/plain;base64,aGk=" }] },
    ],
    max_output_tokens: 4,
    store: false,
    parallel_tool_calls: false,
  },
  {
    input: MARK,
    ...sampling,
    max_output_tokens: 4,
    top_logprobs: 2,
    include: ["message.output_text.logprobs"],
    stream: true,
  },
  { input: MARK, max_output_tokens: 4, tools: [responsesTool, { type: "web_search" }], tool_choice: "required" },
  {
    input: MARK,
    max_output_tokens: 4,
    tools: [responsesTool],
    tool_choice: { type: "function", name },
    stream: true,
    truncation: "auto",
  },
  {
    input: MARK,
    max_output_tokens: 4,
    text: { format: { type: "json_schema", name: MARK, strict: true, schema }, verbosity: "low" },
  },
  {
    input: MARK,
    max_output_tokens: 8,
    reasoning: { effort: "low", summary: "auto" },
    reasoning_budget_tokens: 2,
    stream: true,
  },
  { input: MARK, max_output_tokens: 4, background: true, store: true },
  {
    input: [{ type: "item_reference", id: `msg_${MARK}` }, { id: `msg_${MARK}` }],
    previous_response_id: `resp_${MARK}`,
    max_output_tokens: 4,
  },
  {
    input: [
      { role: "user", content: [{ type: "input_image", image_url: `data:image/png;base64,${PIXEL}`, detail: "low" }] },
    ],
    max_output_tokens: 4,
  },
];

const options = {
  num_predict: 4,
  temperature: 0.5,
  top_k: 5,
  top_p: 0.9,
  min_p: 0.1,
  typical_p: 1,
  repeat_penalty: 1.1,
  repeat_last_n: 64,
  presence_penalty: 0.1,
  seed: 7,
  stop: [MARK],
};
const ollamaTool = { type: "function", function: { name, description: MARK, parameters: schema } };
const ollamaChat: readonly Seed[] = [
  {
    model: MARK,
    messages: [
      { role: "system", content: MARK },
      user,
      { role: "assistant", content: "", thinking: MARK, tool_calls: [{ function: { name, arguments: { n: 1 } } }] },
      { role: "tool", tool_name: name, content: MARK },
    ],
    tools: [ollamaTool],
    options,
    keep_alive: "5m",
  },
  { messages: [user], options, format: schema, stream: false },
  { messages: [user], options, format: "json", think: true, logprobs: true, top_logprobs: 2 },
  { messages: [{ ...user, images: [PIXEL] }], options, think: "low", stream: false },
];
const ollamaGenerate: readonly Seed[] = [
  { model: MARK, prompt: MARK, system: MARK, options, keep_alive: 5, stream: false },
  { prompt: MARK, raw: true, options },
  { prompt: MARK, suffix: MARK, options, stream: false },
  { prompt: MARK, images: [PIXEL], format: schema, think: false, options },
];

/** Every field that constrains the answer; a request may have only one of them. */
const structures: readonly Seed[] = [
  { response_format: { type: "json_schema", json_schema: { name: MARK, strict: true, schema } } },
  { grammar: `root ::= "${MARK}"` },
  { json_schema: schema },
  { structured_outputs: { choice: [MARK, "b"] } },
  { guided_json: schema },
  { guided_regex: "[a-z]+" },
  { guided_choice: [MARK, "b"] },
  { guided_grammar: `root ::= "${MARK}"` },
];
const completion: readonly Seed[] = [
  { model: MARK, prompt: MARK, n_predict: 4, ...sampling, stop: "", n_probs: 2, stream: true },
  { prompt: [MARK, [1, MARK], { prompt_string: MARK }], n_cmpl: 2, n_predict: 4, return_tokens: true },
  { prompt: [1, 2], n_predict: 0, stop: [MARK], return_progress: true, timings_per_token: true, stream: true },
  ...structures.map((structure) => ({ prompt: MARK, n_predict: 4, ...structure })),
];
const infill: readonly Seed[] = [
  { input_prefix: MARK, input_suffix: MARK, input_extra: [{ filename: MARK, text: MARK }], prompt: MARK, n_predict: 4 },
  ...structures.map((structure) => ({ input_prefix: MARK, input_suffix: "", n_predict: 4, ...structure })),
];

/** Returns a batch of the chat API's seeds. */
const batchOf = (bodies: readonly Seed[]): Seed => ({
  requests: bodies.map((body, index) => ({ custom_id: `${MARK} ${index}`, body })),
});
const multiplex: readonly Seed[] = [
  batchOf(chat.slice(0, 4)),
  batchOf(chat.slice(4)),
  batchOf(Array.from({ length: 64 }, (_, n) => ({ messages: [user], max_tokens: 2, stream: n % 2 === 0 }))),
];

export const seeds: Readonly<Record<TargetName, readonly Seed[]>> = {
  chat,
  completions,
  messages,
  responses,
  "ollama-chat": ollamaChat,
  "ollama-generate": ollamaGenerate,
  completion,
  infill,
  multiplex,
};
