// One question in every API, streamed or not, to a real model at temperature 0: the same reasoning, text, calls and
// counts.

import { expect, test } from "bun:test";
import { dialects } from "../contract/golden-rows.ts";
import type { ChatBody } from "../support/streams/chat.ts";
import type { CompletionBody } from "../support/streams/completions.ts";
import type { MessageBody } from "../support/streams/messages.ts";
import type { OllamaBody } from "../support/streams/ollama.ts";
import type { ResponseBody } from "../support/streams/responses.ts";
import { sharedServer } from "../support/shared-server.ts";

const server = sharedServer("--ctx", "8192", "--threads", "1");

interface Call {
  readonly name: string;
  readonly arguments: unknown;
}

/** The parts of a generation that every API reports. */
interface Answer {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly Call[];
  readonly prompt: number;
  readonly completion: number;
}

interface Question {
  readonly content: string;
  readonly thinks?: true;
  readonly schema?: Readonly<Record<string, unknown>>;
  /** The same as `schema`, for an API without schemas. */
  readonly grammar?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
}

const object = (key: string) => ({
  type: "object",
  properties: { [key]: { type: "string" } },
  required: [key],
  additionalProperties: false,
});
const CAPITAL = "What is the capital of France?";
const questions: Readonly<Record<string, Question>> = {
  text: { content: CAPITAL },
  reasoning: { content: CAPITAL, thinks: true },
  "tool call": { content: "What is the weather in Paris?", parameters: object("city") },
  schema: {
    content: CAPITAL,
    schema: object("capital"),
    grammar: String.raw`root ::= "{" " "? "\"capital\"" " "? ":" " "? "\"" [a-zA-Z ]* "\"" " "? "}"`,
  },
};
const name = "get_weather";
const description = "Get the weather of a city.";

async function post(path: string, body: object): Promise<string> {
  const response = await server.post(path, body);
  expect(response.status).toBe(200);
  return response.text();
}

/** Returns the body of a whole answer, or the result of a stream. */
async function bodyOf(dialect: keyof typeof dialects, body: object, stream: boolean): Promise<object> {
  const { path, assemble, check } = dialects[dialect];
  const text = await post(path, { ...body, stream });
  return stream ? (assemble(text).body ?? {}) : check(JSON.parse(text));
}

const chatBody = ({ content, thinks, schema, parameters }: Question) => ({
  messages: [{ role: "user", content }],
  temperature: 0,
  ...(thinks && { reasoning_effort: "low" }),
  ...(schema && { response_format: { type: "json_schema", json_schema: { name: "answer", schema } } }),
  ...(parameters && { tools: [{ type: "function", function: { name, description, parameters } }] }),
});

/** Returns the prompt of a conversation as token ids; this route parses special tokens in text. */
async function promptTokens(question: Question): Promise<number[]> {
  const specials = new Map<string, number>();
  for (let id = 0; id < 9; id++) specials.set(JSON.parse(await post("/detokenize", { tokens: [id] })).text, id);
  const { prompt } = JSON.parse(await post("/apply-template", chatBody(question))) as { prompt: string };
  const pieces = prompt.split(new RegExp(`(${[...specials.keys()].map((text) => RegExp.escape(text)).join("|")})`));
  const ids = pieces.map(async (piece) => {
    const special = specials.get(piece);
    if (special !== undefined) return [special];
    return piece === "" ? [] : (JSON.parse(await post("/tokenize", { content: piece })).tokens as number[]);
  });
  return (await Promise.all(ids)).flat();
}

type Ask = (question: Question, stream: boolean) => Promise<Answer>;

const askers = {
  async chat(question: Question, stream: boolean): Promise<Answer> {
    const { choices, usage } = (await bodyOf("chat", chatBody(question), stream)) as ChatBody;
    const message = choices[0]?.message;
    return {
      text: message?.content ?? "",
      reasoning: message?.reasoning_content ?? "",
      calls: (message?.tool_calls ?? []).map((call) => ({
        name: call.function.name,
        arguments: JSON.parse(call.function.arguments),
      })),
      prompt: usage?.prompt_tokens ?? 0,
      completion: usage?.completion_tokens ?? 0,
    };
  },

  async responses({ content, thinks, schema, parameters }: Question, stream: boolean): Promise<Answer> {
    const body = {
      input: content,
      temperature: 0,
      ...(thinks && { reasoning: { effort: "low" } }),
      ...(schema && { text: { format: { type: "json_schema", name: "answer", schema } } }),
      ...(parameters && { tools: [{ type: "function", name, description, parameters }] }),
    };
    const { output, usage } = (await bodyOf("responses", body, stream)) as ResponseBody;
    return {
      text: output.flatMap((item) => (item.type === "message" ? item.content.map(({ text }) => text) : [])).join(""),
      reasoning: output
        .flatMap((item) => (item.type === "reasoning" ? item.summary.map(({ text }) => text) : []))
        .join(""),
      calls: output.flatMap((item) =>
        item.type === "function_call" ? [{ name: item.name, arguments: JSON.parse(item.arguments) }] : [],
      ),
      prompt: usage?.input_tokens ?? 0,
      completion: usage?.output_tokens ?? 0,
    };
  },

  async messages({ content, thinks, schema, parameters }: Question, stream: boolean): Promise<Answer> {
    const body = {
      max_tokens: 200,
      messages: [{ role: "user", content }],
      temperature: 0,
      ...(thinks && { thinking: { type: "adaptive" } }),
      ...(schema && { output_config: { format: { type: "json_schema", schema } } }),
      ...(parameters && { tools: [{ name, description, input_schema: parameters }] }),
    };
    const message = (await bodyOf("messages", body, stream)) as MessageBody;
    const { usage } = message;
    return {
      text: message.content.map((block) => (block.type === "text" ? block.text : "")).join(""),
      reasoning: message.content.map((block) => (block.type === "thinking" ? block.thinking : "")).join(""),
      calls: message.content.flatMap((block) =>
        block.type === "tool_use" ? [{ name: block.name, arguments: block.input }] : [],
      ),
      prompt: usage.input_tokens + usage.cache_read_input_tokens,
      completion: usage.output_tokens,
    };
  },

  async ollama({ content, thinks, schema, parameters }: Question, stream: boolean): Promise<Answer> {
    const body = {
      messages: [{ role: "user", content }],
      options: { temperature: 0 },
      ...(thinks && { think: true }),
      ...(schema && { format: schema }),
      ...(parameters && { tools: [{ type: "function", function: { name, description, parameters } }] }),
    };
    const { message, prompt_eval_count, eval_count } = (await bodyOf("ollama-chat", body, stream)) as OllamaBody;
    return {
      text: message?.content ?? "",
      reasoning: message?.thinking ?? "",
      calls: (message?.tool_calls ?? []).map((call) => ({
        name: call.function.name,
        arguments: call.function.arguments,
      })),
      prompt: prompt_eval_count ?? 0,
      completion: eval_count ?? 0,
    };
  },
} satisfies Readonly<Record<string, Ask>>;

test.each(Object.keys(questions))("%s: the answer is the same in every API, streamed or not", async (which) => {
  const question = questions[which] as Question;
  const expected = await askers.chat(question, false);
  expect([expected.reasoning !== "", expected.calls.length]).toEqual([
    question.thinks === true,
    question.parameters ? 1 : 0,
  ]);
  if (question.schema) expect(JSON.parse(expected.text)).toEqual({ capital: "Paris" });
  for (const [dialect, ask] of Object.entries<Ask>(askers)) {
    for (const stream of [false, true]) {
      expect([dialect, stream, await ask(question, stream)]).toEqual([dialect, stream, expected]);
    }
  }
});

test.each(Object.keys(questions))("%s: the raw text contains the complete answer", async (which) => {
  const question = questions[which] as Question;
  const { text, reasoning, calls, prompt, completion } = await askers.chat(question, false);
  const body = {
    prompt: await promptTokens(question),
    max_tokens: 200,
    temperature: 0,
    stream_options: { include_usage: true },
    ...(question.grammar !== undefined && { grammar: question.grammar }),
  };
  for (const stream of [false, true]) {
    const { choices, usage } = (await bodyOf("completions", body, stream)) as CompletionBody;
    expect([stream, usage?.prompt_tokens, usage?.completion_tokens]).toEqual([stream, prompt, completion]);
    const raw = choices[0]?.text ?? "";
    if (reasoning === "" && calls.length === 0) expect(raw).toBe(text);
    else expect(raw).toEndWith(text);
    expect(raw).toContain(reasoning);
    for (const call of calls) expect(raw).toContain(JSON.stringify(call).replaceAll(/([:,])/g, "$1 "));
  }
});
