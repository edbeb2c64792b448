// Names with half a surrogate pair wherever clients can choose names: the request is answered or refused, and no
// other request is affected.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { makeModel } from "../bench/make-model.ts";
import { TEMPLATES } from "../native/templates/sources.ts";
import { streamChat } from "../support/chat-client.ts";
import { withServer } from "../support/server.ts";

// A model that never ends on its own writes until all requests are answered.
const model = makeModel("60m", join(import.meta.dir, "../../vendor/.build/models"));
// This template parses the arguments of calls as JSON.
const template = join(TEMPLATES, "Qwen-Qwen2.5-7B-Instruct.jinja");

const HALF = "\ud800";
const messages = [{ role: "user", content: "hi" }];
const schema = { type: "object", properties: { [HALF]: { type: "string" } } };
const tool = { name: "f", description: HALF, parameters: schema };
const given = { [HALF]: HALF };
const callWith = (given: unknown) => ({ id: HALF, type: "function", function: { name: "f", arguments: given } });
const called = (given: unknown) => ({
  messages: [...messages, { role: "assistant", content: null, tool_calls: [callWith(given)] }],
});
const used = { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "f", input: given }] };

const chat = "/v1/chat/completions";
const REQUESTS: readonly (readonly [what: string, path: string, body: object])[] = [
  ["name of a template value", chat, { messages, chat_template_kwargs: { [HALF]: 1 } }],
  ["name inside a template value", chat, { messages, chat_template_kwargs: { a: [{ [HALF]: 1 }] } }],
  ["template value", chat, { messages, chat_template_kwargs: { a: HALF } }],
  ["responses: template value", "/v1/responses", { input: "hi", chat_template_kwargs: { [HALF]: 1 } }],
  ["parameter of a tool", chat, { messages, tools: [{ type: "function", function: tool }] }],
  ["name of a tool", chat, { messages, tools: [{ type: "function", function: { ...tool, name: HALF } }] }],
  ["messages: a tool", "/v1/messages", { messages, tools: [{ name: "f", input_schema: schema }] }],
  [
    "schema of the answer",
    chat,
    { messages, response_format: { type: "json_schema", json_schema: { name: "s", schema } } },
  ],
  ["grammar", chat, { messages, grammar: `root ::= "${HALF}"` }],
  ["stop sequence", chat, { messages, stop: [HALF] }],
  ["token of a bias", chat, { messages, logit_bias: { [HALF]: 1 } }],
  ["sequence breaker", chat, { messages, dry_multiplier: 1, dry_sequence_breakers: [HALF] }],
  ["adapter", chat, { messages, lora: [{ id: HALF, scale: 1 }] }],
  ["role", chat, { messages: [{ role: HALF, content: "hi" }] }],
  ["name of a speaker", chat, { messages: [{ role: "user", name: HALF, content: "hi" }] }],
  ["call", chat, called(JSON.stringify(given))],
  ["call with an object", chat, called(given)],
  ["messages: call", "/v1/messages", { messages: [...messages, used, ...messages] }],
  ["Ollama: call", "/api/chat", { ...called(given), options: { num_predict: 1 } }],
  ["tokenized text", "/v1/tokenize", { content: HALF }],
  ["prompt", "/v1/completions", { prompt: HALF, suffix: HALF }],
];

test("half a surrogate pair crashes no engine", async () => {
  await withServer(
    ["--model", model, "--chat-template", template, "--ctx", "16384", "--parallel", "2"],
    async (server) => {
      const engine = server.enginePid();
      const leave = new AbortController();
      const first = Promise.withResolvers<void>();
      let texts = 0;
      const onText = () => {
        texts++;
        first.resolve();
      };
      const other = streamChat(server.url, { messages, max_tokens: 12_000 }, { onText, signal: leave.signal }).catch(
        () => {},
      );
      await first.promise;
      const statuses: Record<string, number> = {};
      for (const [what, path, body] of REQUESTS) {
        const response = await server.post(path, { max_tokens: 1, ...body });
        statuses[what] = response.status;
        await response.text();
      }
      expect(statuses).toMatchObject({
        "name of a template value": 400,
        "responses: template value": 400,
        "name inside a template value": 200,
        "template value": 200,
        call: 200,
        "call with an object": 200,
        "messages: call": 200,
        "Ollama: call": 200,
      });
      expect(Object.entries(statuses).filter(([, status]) => status >= 500)).toEqual([]);
      const before = texts;
      while (texts === before) await Bun.sleep(5);
      leave.abort();
      await other;
      expect(server.enginePid()).toBe(engine);
      expect(await server.health()).toMatchObject({ status: "healthy", engine: { state: "ready", restarts: 0 } });
    },
  );
}, 120_000);
