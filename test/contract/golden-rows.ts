// The recorded answers of every API: each way in which an answer can end, streamed or not, and features of single
// APIs.

import { ChatCompletion } from "../../src/contract/chat.ts";
import { Completion } from "../../src/contract/completions.ts";
import { MessagesResponse } from "../../src/contract/messages.ts";
import { OllamaAnswer } from "../../src/contract/ollama.ts";
import { ResponseResource } from "../../src/contract/responses.ts";
import { checker } from "../../src/contract/schema.ts";
import { assembleChat } from "../support/streams/chat.ts";
import { assembleCompletion } from "../support/streams/completions.ts";
import type { Assembled } from "../support/streams/events.ts";
import { assembleMessage } from "../support/streams/messages.ts";
import { assembleOllama } from "../support/streams/ollama.ts";
import { assembleResponse } from "../support/streams/responses.ts";
import { scriptNames, type ScriptName } from "./scripts.ts";

type Body = Readonly<Record<string, unknown>>;

export interface Row {
  /** Name of the recorded file. */
  readonly name: string;
  readonly script: ScriptName;
  readonly body: Body;
  /** The client is informed that its strict schema is not fully enforced. */
  readonly downgraded?: true;
}

export interface Dialect {
  readonly path: string;
  /** File extension of recorded streams. */
  readonly streamed: "sse" | "ndjson";
  readonly check: (body: unknown) => object;
  readonly assemble: (stream: string) => Assembled<object>;
  readonly rows: readonly Row[];
  /** A request that must be refused. */
  readonly refused: Body;
}

const schema = { type: "object", properties: { city: { type: "string" } } };
/** A schema that a grammar cannot fully express. */
const downgraded = { type: "object", properties: { n: { multipleOf: 7 } } };
const messages = [{ role: "user", content: "hi" }];

const rowsOf = (scripts: readonly ScriptName[], body: Body, more: readonly Row[] = []): Row[] => [
  ...scripts.map((script) => ({ name: script, script, body })),
  ...more.map((row) => ({ ...row, body: { ...body, ...row.body } })),
];

const everyWay = scriptNames.filter((name) => name !== "logprobs" && name !== "json");
const textAlone = everyWay.filter((name) => !name.includes("call") && name !== "reasoning");
const withThoughts = everyWay.filter((name) => !name.includes("call"));

const chat: Dialect = {
  path: "/v1/chat/completions",
  streamed: "sse",
  check: checker(ChatCompletion),
  assemble: assembleChat,
  rows: rowsOf(
    // Streams that are really cancelled are recorded where cancelling is tested.
    everyWay.filter((name) => name !== "cancelled"),
    {
      messages,
      stop: "two",
      reasoning_effort: "low",
      tools: [{ type: "function", function: { name: "weather", parameters: schema } }],
    },
    [
      { name: "cancelled-text", script: "cancelled", body: {} },
      { name: "two-choices", script: "two-tool-calls", body: { n: 2 } },
      { name: "logprobs", script: "logprobs", body: { logprobs: true, top_logprobs: 2 } },
      {
        name: "constrained",
        script: "json",
        downgraded: true,
        body: {
          tools: null,
          response_format: { type: "json_schema", json_schema: { strict: true, schema: downgraded } },
        },
      },
    ],
  ),
  refused: { messages: [{ role: "wizard" }] },
};

const completions: Dialect = {
  path: "/v1/completions",
  streamed: "sse",
  check: checker(Completion),
  assemble: assembleCompletion,
  rows: rowsOf(textAlone, { prompt: "Once", max_tokens: 10, stop: "two", stream_options: { include_usage: true } }, [
    { name: "logprobs", script: "logprobs", body: { logprobs: 2 } },
    { name: "two-prompts", script: "text", body: { prompt: ["A", "B"], n: 2, echo: true } },
    { name: "grammar", script: "json", body: { grammar: 'root ::= "x"' } },
  ]),
  refused: { prompt: [], max_tokens: 10 },
};

const messagesDialect: Dialect = {
  path: "/v1/messages",
  streamed: "sse",
  check: checker(MessagesResponse),
  assemble: assembleMessage,
  rows: rowsOf(
    everyWay,
    {
      max_tokens: 100,
      messages,
      thinking: { type: "adaptive" },
      stop_sequences: ["two"],
      tools: [{ name: "weather", input_schema: schema }],
    },
    [
      {
        name: "constrained",
        script: "json",
        downgraded: true,
        body: { tools: null, output_config: { format: { type: "json_schema", schema: downgraded } } },
      },
      { name: "prompt-alone", script: "tool-call", body: { max_tokens: 0 } },
    ],
  ),
  refused: { messages },
};

const responses: Dialect = {
  path: "/v1/responses",
  streamed: "sse",
  check: checker(ResponseResource),
  assemble: assembleResponse,
  rows: rowsOf(
    everyWay,
    {
      input: "hi",
      reasoning: { effort: "low" },
      tools: [{ type: "function", name: "weather", parameters: schema }, { type: "web_search" }],
    },
    [
      { name: "logprobs", script: "logprobs", body: { top_logprobs: 2, include: ["message.output_text.logprobs"] } },
      { name: "custom-tool-call", script: "tool-call", body: { tools: [{ type: "custom", name: "weather" }] } },
      {
        name: "constrained",
        script: "json",
        downgraded: true,
        body: {
          instructions: "Be brief.",
          max_output_tokens: 50,
          metadata: { user: "7" },
          temperature: 0.5,
          top_p: 0.9,
          tool_choice: "none",
          user: "someone",
          text: { format: { type: "json_schema", name: "n", schema: downgraded } },
        },
      },
    ],
  ),
  refused: { input: 5 },
};

const options = { stop: ["two"] };
const ollamaChat: Dialect = {
  path: "/api/chat",
  streamed: "ndjson",
  check: checker(OllamaAnswer),
  assemble: assembleOllama,
  rows: rowsOf(
    everyWay,
    {
      messages,
      options,
      think: true,
      tools: [{ type: "function", function: { name: "weather", parameters: schema } }],
    },
    [
      { name: "constrained", script: "json", body: { format: schema } },
      { name: "logprobs", script: "logprobs", body: { logprobs: true, top_logprobs: 2 } },
    ],
  ),
  refused: { messages: [{ role: "wizard" }] },
};

const ollamaGenerate: Dialect = {
  ...ollamaChat,
  path: "/api/generate",
  rows: rowsOf(withThoughts, { prompt: "hi", options, think: true }, [
    { name: "constrained", script: "json", body: { format: "json" } },
    { name: "logprobs", script: "logprobs", body: { logprobs: true, top_logprobs: 2 } },
  ]),
  refused: { prompt: 5 },
};

export const dialects = {
  chat,
  completions,
  messages: messagesDialect,
  responses,
  "ollama-chat": ollamaChat,
  "ollama-generate": ollamaGenerate,
} as const satisfies Readonly<Record<string, Dialect>>;
