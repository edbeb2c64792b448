// Fields of LM Studio: the pages of its OpenAI-compatible API.

import {
  rows,
  usual,
  messages,
  begun,
  tools,
  schema,
  OWN,
  ONE_MODEL,
  type PeerRoute,
  type Shorthand,
} from "./peer-field.ts";

const DRAFT_MODEL: Shorthand = ["draft_model", "x", "--draft; the answer is the same"];

export const lmStudioRoutes: readonly PeerRoute[] = [
  {
    peer: "LM Studio",
    route: "POST /v1/chat/completions",
    path: "/v1/chat/completions",
    body: { messages },
    fields: [
      ...rows(
        "honoured",
        ["model", "x"],
        ["top_p", 0.5],
        ["top_k", 3],
        ["messages", begun],
        ["temperature", 0.5],
        ["max_tokens", 5],
        ["stream", true],
        ["stop", "x"],
        ["presence_penalty", 0.5],
        ["logit_bias", { 5: -1 }],
        ["repeat_penalty", 1.1],
        ["seed", 4],
        ["response_format", { type: "json_schema", json_schema: { name: "a", strict: "true", schema } }],
        ["tools", tools],
        ["reasoning_effort", "low"],
      ),
      ...usual(["max_tokens", -1]),
      ...rows("none", ["frequency_penalty", 1, OWN], ["ttl", 300, ONE_MODEL], DRAFT_MODEL),
    ],
  },
  {
    peer: "LM Studio",
    route: "POST /v1/completions",
    path: "/v1/completions",
    body: { prompt: "a" },
    fields: [
      ...rows(
        "honoured",
        ["model", "x"],
        ["prompt", "b"],
        ["temperature", 0.5],
        ["max_tokens", 5],
        ["stream", true],
        ["stop", "x"],
      ),
      ...rows("none", ["ttl", 300, ONE_MODEL], DRAFT_MODEL),
    ],
  },
  {
    peer: "LM Studio",
    route: "POST /v1/embeddings",
    path: "/v1/embeddings",
    body: { input: "a" },
    fields: rows("honoured", ["input", ["a", "b"]]),
  },
  {
    peer: "LM Studio",
    route: "POST /v1/messages",
    path: "/v1/messages",
    body: { messages, max_tokens: 5 },
    fields: rows(
      "honoured",
      ["model", "x"],
      ["messages", begun],
      ["max_tokens", 6],
      ["system", "s"],
      ["stream", true],
      ["tools", [{ name: "f", input_schema: { type: "object" } }]],
      ["tool_choice", { type: "any" }, undefined, { tools: [{ name: "f", input_schema: { type: "object" } }] }],
    ),
  },
  {
    peer: "LM Studio",
    route: "POST /v1/responses",
    path: "/v1/responses",
    body: { input: "a" },
    fields: [
      ...rows(
        "honoured",
        ["model", "x"],
        ["input", "b"],
        ["reasoning", { effort: "low" }],
        ["stream", true],
        ["tools", [{ type: "function", name: "f", parameters: { type: "object" } }]],
      ),
      ...rows("refused", [
        "tools",
        [{ type: "mcp", server_label: "a", server_url: "http://x" }],
        "no server tool runs here; beside functions, it is ignored",
      ]),
    ],
  },
];
