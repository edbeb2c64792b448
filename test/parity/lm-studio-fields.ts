// Fields of LM Studio: the pages of its OpenAI-compatible API.

import { rows, messages, begun, tools, schema, OWN, ONE_MODEL, type PeerRoute } from "./peer-field.ts";

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
        ["max_tokens", -1],
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
      ...rows("none", ["frequency_penalty", 1, OWN], ["ttl", 300, ONE_MODEL]),
    ],
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
      ...rows("none", [
        "tools",
        [{ type: "mcp", server_label: "a", server_url: "http://x" }],
        "no server tool runs here",
      ]),
    ],
  },
];
