// Refusals from behind the API layer name the fields that the client sent.

import { expect, test } from "bun:test";
import { SvcError } from "../../src/domain/errors.ts";
import { serve } from "../http/harness.ts";

type Fields = Readonly<Record<string, unknown>>;

const messages = [{ role: "user", content: "hi" }];
const schema = { type: "object" };
const tool = { name: "f", parameters: schema };

interface Told {
  readonly message: string;
  readonly param?: string;
}

/**
 * Returns the field named when the engine refuses `field`. Ollama's errors are messages only, and those of the
 * Messages API have no separate field.
 */
async function refusal(field: string, path: string, body: Fields): Promise<Told> {
  const fail = new SvcError("invalid_value", `'${field}' must be less.`, { param: field });
  const response = await serve({ steps: [{ fail }, "accept"] }).post(path, body);
  const { error } = (await response.json()) as { error: Told | string };
  return typeof error === "string" ? { message: error } : error;
}

test.each<[field: string, path: string, body: Fields, told: string]>([
  ["messages", "/v1/chat/completions", { messages }, "messages"],
  ["messages", "/v1/completions", { prompt: "a" }, "prompt"],
  ["messages", "/completion", { prompt: "a" }, "prompt"],
  ["prompt", "/infill", { input_prefix: "a", input_suffix: "b" }, "input_prefix"],
  ["suffix", "/infill", { input_prefix: "a", input_suffix: "b" }, "input_suffix"],
  ["messages", "/v1/responses", { input: "a" }, "input"],
  ["messages", "/v1/responses/compact", { input: "a" }, "input"],
  ["messages", "/v1/messages", { messages, max_tokens: 5 }, "messages"],
  ["messages", "/api/chat", { messages }, "messages"],
  ["messages", "/api/generate", { prompt: "a" }, "prompt"],
  ["max_tokens", "/v1/chat/completions", { messages, max_completion_tokens: 5 }, "max_completion_tokens"],
  ["max_tokens", "/v1/responses", { input: "a", max_output_tokens: 5 }, "max_output_tokens"],
  ["max_tokens", "/completion", { prompt: "a", n_predict: 5 }, "n_predict"],
  ["max_tokens", "/api/chat", { messages, options: { num_predict: 5 } }, "options.num_predict"],
  ["top_logprobs", "/v1/completions", { prompt: "a", logprobs: 2 }, "logprobs"],
  ["top_logprobs", "/completion", { prompt: "a", n_probs: 2 }, "n_probs"],
  ["thinking_token_budget", "/v1/chat/completions", { messages, thinking_token_budget: 5 }, "thinking_token_budget"],
  [
    "thinking_token_budget",
    "/v1/chat/completions",
    { messages, reasoning_budget_tokens: 5 },
    "reasoning_budget_tokens",
  ],
  ["thinking_token_budget", "/v1/responses", { input: "a", reasoning_budget_tokens: 5 }, "reasoning_budget_tokens"],
  ["grammar", "/v1/chat/completions", { messages, guided_grammar: 'root ::= "a"' }, "guided_grammar"],
  ["response_format", "/v1/chat/completions", { messages, guided_json: schema }, "guided_json"],
  ["response_format", "/v1/chat/completions", { messages, tools: [{ type: "function", function: tool }] }, "tools"],
  ["response_format", "/v1/completions", { prompt: "a", guided_choice: ["a"] }, "guided_choice"],
  ["response_format", "/completion", { prompt: "a", json_schema: schema }, "json_schema"],
  ["response_format", "/v1/responses", { input: "a", text: { format: { type: "json_object" } } }, "text.format"],
  ["response_format", "/api/chat", { messages, format: "json" }, "format"],
  [
    "response_format",
    "/v1/messages",
    { messages, max_tokens: 5, output_config: { format: { type: "json_schema", schema } } },
    "output_config.format.schema",
  ],
])("'%s' on %s, of %j, is reported as '%s'", async (field, path, body, told) => {
  const { message, param = told } = await refusal(field, path, body);
  expect([message, param]).toEqual([`'${told}' must be less.`, told]);
});
