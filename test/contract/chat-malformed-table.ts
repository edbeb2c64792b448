// Chat completion requests that must be refused: the body, the error code and the field that the error names.

import type { ErrorCode } from "../../src/domain/errors.ts";
import type { TestServer } from "../http/harness.ts";

export interface MalformedRow {
  readonly name: string;
  /** Fields added to or replacing valid `messages`, or the bytes of the whole body. */
  readonly body: Readonly<Record<string, unknown>> | string | Uint8Array;
  readonly code: ErrorCode;
  readonly param?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Text that must not appear in any error message. */
export const SECRET = "SECRET";

const T = "invalid_type";
const V = "invalid_value";
const M = "missing_required_parameter";
const U = "unsupported_parameter";

/** Grammars that exceed llama.cpp's stack, memory or time. */
const LARGE_GRAMMARS = [
  `root ::= ${"(".repeat(1001)}"SECRET"${")".repeat(1001)}`,
  `root ::= "${"SECRET".repeat(100)}"{2000}`,
  `root ::= a0\na30 ::= "SECRET"\n${Array.from({ length: 30 }, (_, i) => `a${i} ::= a${i + 1} | a${i + 1}`).join("\n")}`,
  `root ::= "SECRET"{5,2}`,
  `root ::= ("SECRET"?){0,2000}`,
  `root ::= a\na ::= e a "SECRET" | "z"\ne ::= f\nf ::= "" | "y"`,
] as const;

/** More alternatives than llama.cpp can compare at every character. */
const LARGE_SCHEMA = { enum: Array.from({ length: 5001 }, (_, n) => String.fromCodePoint(0x4e00 + n)) };

const wrongObjects = [
  [[], T],
  ["SECRET", T],
  [5, T],
  [true, T],
] as const;
const wrongNumbers = [
  ["SECRET", T],
  ["1", T],
  [true, T],
  [[], T],
  [{}, T],
] as const;
const wrongBooleans = [
  ["SECRET", T],
  ["true", T],
  [1, T],
  [0, T],
  [[], T],
  [{}, T],
] as const;
const wrongStrings = [
  [5, T],
  [true, T],
  [[], T],
  [{}, T],
] as const;

/** Values of one top-level field; the error names the field itself unless a third element names another. */
const fields: Readonly<Record<string, readonly (readonly [value: unknown, code: ErrorCode, param?: string])[]>> = {
  model: wrongStrings,
  user: wrongStrings,
  temperature: [...wrongNumbers, [-0.1, V], [5.1, V], [1e300, V]],
  top_p: [...wrongNumbers, [-0.01, V], [1.01, V]],
  top_k: [...wrongNumbers, [1.5, T], [-2, V]],
  min_p: [...wrongNumbers, [-0.01, V], [1.01, V]],
  max_tokens: [...wrongNumbers, [0, V], [-2, V], [1.5, T]],
  max_completion_tokens: [...wrongNumbers, [0, V], [-2, V], [1.5, T]],
  repetition_penalty: [...wrongNumbers, [0, V], [-1, V], [10.1, V]],
  repeat_penalty: [...wrongNumbers, [0, V], [-1, V], [10.1, V]],
  presence_penalty: [...wrongNumbers, [-2.1, V], [2.1, V]],
  frequency_penalty: wrongNumbers,
  seed: [...wrongNumbers, [1.5, T]],
  logprobs: wrongBooleans,
  stream: wrongBooleans,
  parallel_tool_calls: wrongBooleans,
  top_logprobs: [...wrongNumbers, [-1, V], [21, V], [1.5, T], [3, V]],
  n: [...wrongNumbers, [0, V], [1.5, T], [129, V]],
  stop: [
    [5, T],
    [true, T],
    [{}, T],
    ["S".repeat(1001), V],
    [["ok", 5], T, "stop.1"],
    [["ok", null], T, "stop.1"],
    [[[]], T, "stop.0"],
    [["ok", "S".repeat(1001)], V, "stop.1"],
    [Array.from({ length: 129 }, String), V],
  ],
  stream_options: [
    ...wrongObjects,
    [{ include_usage: "SECRET" }, T, "stream_options.include_usage"],
    [{ include_usage: 1 }, T, "stream_options.include_usage"],
  ],
  tools: [
    [{}, T],
    ["SECRET", T],
    [[5], T, "tools.0"],
    [[{}], M, "tools.0.type"],
    [[{ type: "SECRET", function: { name: "f" } }], V, "tools.0.type"],
    [[{ type: "function" }], M, "tools.0.function"],
    [[{ type: "function", function: {} }], M, "tools.0.function.name"],
    [[{ type: "function", function: { name: 5 } }], T, "tools.0.function.name"],
    [[{ type: "function", function: { name: "f", parameters: "SECRET" } }], T, "tools.0.function.parameters"],
    [[{ type: "function", function: { name: "f", parameters: LARGE_SCHEMA } }], V, "tools.0.function.parameters"],
    [[{ type: "function", function: { name: "f", strict: "SECRET" } }], T, "tools.0.function.strict"],
    [[{ type: "custom", custom: { name: "SECRET" } }], U, "tools.0.type"],
    [[{ type: "function", function: { name: "" } }], V, "tools.0.function.name"],
    [
      [
        { type: "function", function: { name: "SECRET" } },
        { type: "function", function: { name: "SECRET" } },
      ],
      V,
      "tools.1.function.name",
    ],
  ],
  tool_choice: [
    ["SECRET", V],
    [5, T],
    [[], T],
    [{}, M, "tool_choice.type"],
    [{ type: "function" }, M, "tool_choice.function"],
    [{ type: "function", function: {} }, M, "tool_choice.function.name"],
    ["required", V],
    [{ type: "function", function: { name: "SECRET" } }, V],
  ],
  response_format: [
    ...wrongObjects,
    [{}, M, "response_format.type"],
    [{ type: "SECRET" }, V, "response_format.type"],
    [{ type: 5 }, T, "response_format.type"],
    [{ type: "json_schema", json_schema: "SECRET" }, T, "response_format.json_schema"],
    [{ type: "json_schema", json_schema: { schema: [] } }, T, "response_format.json_schema.schema"],
    [{ type: "json_schema" }, M, "response_format.json_schema"],
    [
      { type: "json_schema", json_schema: { name: "n", schema: LARGE_SCHEMA } },
      V,
      "response_format.json_schema.schema",
    ],
  ],
  chat_template_kwargs: [...wrongObjects, [{ enable_thinking: "SECRET" }, T, "chat_template_kwargs.enable_thinking"]],
  reasoning_budget_tokens: [...wrongNumbers, [-2, V], [1.5, T]],
  grammar: [...wrongStrings, ["G".repeat(1_000_001), V], ...LARGE_GRAMMARS.map((grammar) => [grammar, V] as const)],
  reasoning_effort: [
    ["SECRET", V],
    [5, T],
    [{}, T],
  ],
  logit_bias: [
    [{ 50256: -100.5 }, V, "logit_bias.50256"],
    [{ SECRET: 1 }, V],
    [Object.fromEntries(Array.from({ length: 10_001 }, (_, token) => [token, 1])), V, "logit_bias"],
    [{ "a SECRET": [] }, T, "logit_bias.…"],
    ["SECRET", T],
  ],
  typical_p: [...wrongNumbers, [-0.01, V], [1.01, V]],
  top_n_sigma: [...wrongNumbers, [-1.1, V]],
  xtc_probability: [...wrongNumbers, [1.1, V]],
  xtc_threshold: [...wrongNumbers, [1.1, V]],
  dynatemp_range: [...wrongNumbers, [-1, V]],
  dynatemp_exponent: [...wrongNumbers, [0, V]],
  repeat_last_n: [...wrongNumbers, [-2, V], [1.5, T]],
  dry_multiplier: [...wrongNumbers, [-1, V]],
  dry_base: [...wrongNumbers, [0.5, V]],
  dry_allowed_length: [...wrongNumbers, [-1, V]],
  dry_penalty_last_n: [...wrongNumbers, [-2, V]],
  dry_sequence_breakers: [
    ["SECRET", T],
    [[], V],
    [[""], V, "dry_sequence_breakers.0"],
  ],
  mirostat: [...wrongNumbers, [3, V], [-1, V]],
  mirostat_tau: [...wrongNumbers, [-1, V]],
  mirostat_eta: [...wrongNumbers, [2, V]],
  ignore_eos: wrongBooleans,
  min_tokens: [...wrongNumbers, [-1, V]],
  functions: [
    ["SECRET", T],
    [[{}], M, "functions.0.name"],
  ],
  function_call: [
    ["SECRET", V],
    [{ name: "SECRET" }, V],
  ],
  audio: [[{ voice: "SECRET", format: "wav" }, U]],
  modalities: [
    [["text", "audio"], U],
    [["audio"], U],
    ["SECRET", U],
  ],
  web_search_options: [
    [{}, U],
    [{ search_context_size: "low" }, U],
  ],
  moderation: [[{ model: "SECRET" }, U]],
};

/** Values of `messages`. */
const messages: readonly (readonly [value: unknown, code: ErrorCode, param: string])[] = [
  [undefined, M, "messages"],
  [null, M, "messages"],
  ["SECRET", T, "messages"],
  [5, T, "messages"],
  [{}, T, "messages"],
  [[], V, "messages"],
  [["SECRET"], T, "messages.0"],
  [[5], T, "messages.0"],
  [[null], T, "messages.0"],
  [[[]], T, "messages.0"],
  [[{}], M, "messages.0.role"],
  [[{ content: "SECRET" }], M, "messages.0.role"],
  [[{ role: null, content: "SECRET" }], M, "messages.0.role"],
  [[{ role: 5, content: "SECRET" }], T, "messages.0.role"],
  [[{ role: "SECRET", content: "x" }], V, "messages.0.role"],
  [[{ role: "user", content: "x" }, { role: "SECRET" }], V, "messages.1.role"],
  [[{ role: "user", content: 5 }], T, "messages.0.content"],
  [[{ role: "user", content: true }], T, "messages.0.content"],
  [[{ role: "user", content: {} }], T, "messages.0.content"],
  [[{ role: "user", content: ["SECRET"] }], T, "messages.0.content.0"],
  [[{ role: "user", content: [{}] }], M, "messages.0.content.0.type"],
  [[{ role: "user", content: [{ type: "SECRET" }] }], V, "messages.0.content.0.type"],
  [[{ role: "user", content: [{ type: 5 }] }], T, "messages.0.content.0.type"],
  [[{ role: "user", content: [{ type: "text" }] }], M, "messages.0.content.0.text"],
  [[{ role: "user", content: [{ type: "text", text: null }] }], M, "messages.0.content.0.text"],
  [[{ role: "user", content: [{ type: "text", text: 5 }] }], T, "messages.0.content.0.text"],
  [
    [
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: [] },
        ],
      },
    ],
    T,
    "messages.0.content.1.text",
  ],
  [[{ role: "user", content: [{ type: "image_url", image_url: 5 }] }], T, "messages.0.content.0.image_url"],
  [
    [{ role: "user", content: [{ type: "image_url", image_url: "SECRET" }] }],
    "unsupported_media_input",
    "messages.0.content.0.image_url",
  ],
  [[{ role: "user", content: [{ type: "image_url", image_url: {} }] }], M, "messages.0.content.0.image_url.url"],
  [
    [{ role: "user", content: [{ type: "image_url", image_url: { url: "x", detail: "SECRET" } }] }],
    V,
    "messages.0.content.0.image_url.detail",
  ],
  [
    [{ role: "user", content: [{ type: "image_url", image_url: { url: "SECRET" } }] }],
    "unsupported_media_input",
    "messages.0.content.0.image_url.url",
  ],
  [
    [{ role: "system", content: [{ type: "image_url", image_url: { url: "SECRET" } }] }],
    V,
    "messages.0.content.0.type",
  ],
  [[{ role: "user", content: [{ type: "input_audio", input_audio: {} }] }], M, "messages.0.content.0.input_audio.data"],
  [
    [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "SECRET" } }] }],
    "unsupported_media_input",
    "messages.0.content.0.input_audio.data",
  ],
  [[{ role: "user", content: "x", name: 5 }], T, "messages.0.name"],
  [[{ role: "tool", content: "SECRET", tool_call_id: 5 }], T, "messages.0.tool_call_id"],
  [[{ role: "assistant", tool_calls: "SECRET" }], T, "messages.0.tool_calls"],
  [[{ role: "assistant", tool_calls: [{}] }], M, "messages.0.tool_calls.0.id"],
  [
    [{ role: "assistant", tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: 5 } }] }],
    T,
    "messages.0.tool_calls.0.function.arguments",
  ],
  [
    [{ role: "assistant", tool_calls: [{ id: "c", type: "SECRET", function: { name: "f", arguments: "{}" } }] }],
    V,
    "messages.0.tool_calls.0.type",
  ],
];

const valid = '{"messages":[{"role":"user","content":"SECRET"}]}';
const bytes = (...values: number[]) =>
  Uint8Array.from([...Buffer.from('{"messages":"'), ...values, ...Buffer.from('"}')]);
const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);

/** Bodies that are not JSON, not UTF-8, too deep, or not an object. */
const bodies: readonly (readonly [name: string, body: string | Uint8Array, code: ErrorCode])[] = [
  ["empty", "", "invalid_json"],
  ["blank", "  \n", "invalid_json"],
  ["an open brace", "{", "invalid_json"],
  ["cut in a string", '{"messages":"SECRET', "invalid_json"],
  ["cut after a key", '{"messages":', "invalid_json"],
  ["single quotes", "{'messages':'SECRET'}", "invalid_json"],
  ["trailing comma", '{"messages":[],}', "invalid_json"],
  ["comment", '{"messages":[] /* SECRET */}', "invalid_json"],
  ["NaN", '{"temperature":NaN}', "invalid_json"],
  ["two documents", `${valid}${valid}`, "invalid_json"],
  ["text after the end", `${valid} SECRET`, "invalid_json"],
  ["plain text", "SECRET", "invalid_json"],
  ["form encoding", "messages=SECRET", "invalid_json"],
  ["raw newline in a string", '{"messages":"SECRET\n"}', "invalid_json"],
  ["bad escape", '{"messages":"\\xSECRET"}', "invalid_json"],
  ["leading zero", '{"top_k":01}', "invalid_json"],
  ["NUL byte", "\0", "invalid_json"],
  ["lone continuation byte", bytes(0x80), "invalid_json"],
  ["byte that UTF-8 never has", bytes(0xff), "invalid_json"],
  ["cut character", bytes(0xe2, 0x82), "invalid_json"],
  ["overlong slash", bytes(0xc0, 0xaf), "invalid_json"],
  ["surrogate half", bytes(0xed, 0xa0, 0x80), "invalid_json"],
  ["beyond Unicode", bytes(0xf4, 0x90, 0x80, 0x80), "invalid_json"],
  ["UTF-16", Buffer.from(valid, "utf16le"), "invalid_json"],
  ["129 arrays", nested("[", "]", 129), "invalid_json"],
  ["a hundred thousand arrays", nested("[", "]", 100_000), "invalid_json"],
  ["a million open arrays", "[".repeat(1_000_000), "invalid_json"],
  ["a hundred thousand objects", nested('{"a":', "}", 100_000), "invalid_json"],
  ["a deep field", `{"chat_template_kwargs":${nested("[", "]", 200)}}`, "invalid_json"],
  ["brackets after an escaped quote", `{"a":"\\"","b":${nested("[", "]", 200)}}`, "invalid_json"],
  ["null", "null", T],
  ["a number", "5", T],
  ["a string", '"SECRET"', T],
  ["true", "true", T],
  ["an array", "[]", T],
  ["an infinite number", `{"messages":[{"role":"user","content":"x"}],"temperature":1e999}`, V],
];

const headers: readonly (readonly [name: string, headers: Record<string, string>, code: ErrorCode, param?: string])[] =
  [
    ["text from a page", { "content-type": "text/plain", origin: "http://localhost" }, "unsupported_media_type"],
    [
      "text with charset from a page",
      { "content-type": "text/plain;charset=UTF-8", "sec-fetch-mode": "no-cors" },
      "unsupported_media_type",
    ],
    [
      "a form of a page",
      { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
      "unsupported_media_type",
    ],
    ["multipart", { "content-type": "multipart/form-data; boundary=x" }, "unsupported_media_type"],
    ["xml", { "content-type": "application/xml" }, "unsupported_media_type"],
    ["bytes", { "content-type": "application/octet-stream" }, "unsupported_media_type"],
    ["nearly JSON", { "content-type": "application/jsonp" }, "unsupported_media_type"],
    ["gzip", { "content-encoding": "gzip" }, "unsupported_media_type"],
    ["no profile", { "x-svc-profile": "false" }, V, "X-Svc-Profile"],
    ["some other profile", { "x-svc-profile": "SECRET" }, V, "X-Svc-Profile"],
    ["an empty profile", { "x-svc-profile": "" }, V, "X-Svc-Profile"],
    ["two profiles", { "x-svc-profile": "true, extended" }, V, "X-Svc-Profile"],
  ];

const user = [{ role: "user", content: "SECRET" }];

export const malformed: readonly MalformedRow[] = [
  ...Object.entries(fields).flatMap(([field, rows]) =>
    rows.map(([value, code, param = field]) => ({
      name: `${field}: ${JSON.stringify(value).slice(0, 60)}`,
      body: { messages: user, [field]: value },
      code,
      param,
    })),
  ),
  ...messages.map(([value, code, param]) => ({
    name: `messages: ${(JSON.stringify(value) ?? "absent").slice(0, 90)}`,
    body: { messages: value },
    code,
    param,
  })),
  ...bodies.map(([name, body, code]) => ({ name: `body: ${name}`, body, code })),
  ...headers.map(([name, extra, code, param = null]) => ({
    name: `header: ${name}`,
    body: { messages: user },
    headers: extra,
    code,
    param,
  })),
];

export const sendMalformed = (server: TestServer, { body, headers }: MalformedRow, id: string): Promise<Response> =>
  fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-request-id": id, ...headers },
    body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
  });
