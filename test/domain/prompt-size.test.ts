import { expect, test } from "bun:test";
import type { GenerateRequest, Tool } from "../../src/domain/generate.ts";
import { tooLargePrompt, tooLongToCount, tooManyTokens } from "../../src/domain/prompt-size.ts";
import { plainRequest } from "../support/request.ts";

const limits = { maxModelLen: 10, mostPromptBytes: 40 };
const request = (fields: Partial<GenerateRequest>): GenerateRequest => ({ ...plainRequest(""), ...fields });
const user = (content: string) => ({ role: "user", content }) as const;
const text = (length: number) => ({ type: "text", text: "x".repeat(length) }) as const;

test.each([
  ["what just fits", { messages: [user("x".repeat(40))] }, undefined],
  ["one message", { messages: [user("x".repeat(41))] }, "'messages' has at least 41 bytes"],
  ["several", { messages: [user("x".repeat(20)), user("x".repeat(21))] }, "'messages' has at least 41 bytes"],
  ["parts", { messages: [{ role: "user", content: [text(20), text(22)] }] }, "'messages' has at least 42 bytes"],
  ["a raw prompt that fits", { prompt: "x".repeat(30), suffix: "x".repeat(10) }, undefined],
  ["a raw prompt", { prompt: "x".repeat(30), suffix: "x".repeat(11) }, "'prompt' has at least 41 bytes"],
  [
    "files around a gap",
    { prompt: "x", suffix: "", gap: { begun: "x".repeat(20), files: [{ filename: "f", text: "x".repeat(20) }] } },
    "'prompt' has at least 42 bytes",
  ],
  ["as many messages as may be", { messages: Array.from({ length: 4096 }, () => user("")) }, undefined],
  ["too many messages", { messages: Array.from({ length: 4097 }, () => user("")) }, "at most 4096 messages"],
] as const)("the size of a prompt: %s", (_, fields, told) => {
  const refusal = tooLargePrompt(request(fields as Partial<GenerateRequest>), limits);
  if (told === undefined) expect(refusal).toBeUndefined();
  else expect(refusal?.message).toContain(told);
});

const MOST = 4_000_000;
const long = "x".repeat(MOST + 1);
const assistant = (more: object) => ({ messages: [{ role: "assistant", content: "", ...more }] });
const called = (more: object) => assistant({ toolCalls: [{ id: "", name: "", arguments: "", ...more }] });
const tool = (more: Partial<Tool>): Tool => ({ name: "f", description: "", parameters: {}, enforced: {}, ...more });

test.each([
  ["reasoning", assistant({ reasoning: long }), "messages"],
  ["a name", assistant({ name: long }), "messages"],
  ["the id of a result", assistant({ toolCallId: long }), "messages"],
  ["the id of a call", called({ id: long }), "messages"],
  ["the name of a call", called({ name: long }), "messages"],
  ["arguments", called({ arguments: long }), "messages"],
  ["what a tool does", { tools: [tool({ description: long })] }, "tools"],
  ["a text in a schema", { tools: [tool({ parameters: { properties: { a: [{ const: long }] } } })] }, "tools"],
  ["a name in a schema", { tools: [tool({ parameters: { [long]: true } })] }, "tools"],
  ["a tool that is not chosen", { allTools: [tool({ description: long })] }, "tools"],
  ["what the template is given", { templateKwargs: { a: { b: long } } }, "chat_template_kwargs"],
])("text outside the content of messages counts: %s", (_, fields, param) => {
  const asked = request(fields as unknown as Partial<GenerateRequest>);
  expect(tooLargePrompt(asked, { maxModelLen: 10 })).toMatchObject({ code: "invalid_value", details: { param } });
  expect(tooLargePrompt(asked, limits)?.message).toMatch(/^'\w+' must have at most 4000000 .*; got 40000\d\d\.$/);
  expect(tooLargePrompt(asked, { maxModelLen: 10, mostPromptBytes: 2 * MOST })).toBeUndefined();
});

test("200 tools and a long history of reasoning are within the limits", () => {
  const parameters = {
    properties: Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`p${n}`, "x".repeat(400)])),
  };
  const tools = Array.from({ length: 200 }, () => tool({ description: "x".repeat(8000), parameters }));
  const thought = Array.from({ length: 300 }, () => ({ ...user("x"), reasoning: "x".repeat(10_000) }));
  expect(tooLargePrompt(request({ messages: thought, tools }), { ...limits, mostPromptBytes: 1000 })).toBeUndefined();
});

test.each([
  ["content", { messages: [user("x".repeat(2 * MOST)), user("x".repeat(400_000))] }],
  ["a raw prompt", { prompt: "x".repeat(2 * MOST + 400_000) }],
  [
    "content, tools and what the template is given",
    {
      messages: [user("x".repeat(MOST))],
      tools: [tool({ description: "x".repeat(MOST) })],
      templateKwargs: { a: "x".repeat(400_000) },
    },
  ],
])("text whose tokens are only counted has a limit: %s", (_, fields) => {
  const asked = request(fields as unknown as Partial<GenerateRequest>);
  expect(tooLongToCount(asked)).toMatchObject({ code: "payload_too_large" });
  expect(tooLongToCount(asked)?.message).toMatch(/at most 8388608 characters.*got 84000\d\d\.$/);
  expect(tooLongToCount(request({ messages: [user("x".repeat(2 * MOST))] }))).toBeUndefined();
});

test("a model with unknown token lengths accepts any text", () => {
  expect(tooLargePrompt(request({ messages: [user("x".repeat(1000))] }), { maxModelLen: 10 })).toBeUndefined();
});

test("a prompt of tokens must leave space for one more in the context", () => {
  const tokens = (length: number) => request({ prompt: Array.from({ length }, () => 1) });
  expect(tooLargePrompt(tokens(9), { maxModelLen: 10 })).toBeUndefined();
  expect(tooLargePrompt(tokens(10), { maxModelLen: 10 })).toMatchObject({
    code: "context_length_exceeded",
    details: { param: "prompt" },
  });
});

test.each([
  ["LiteLLM", /this model's maximum context length is/i],
  ["LangChain", /prompt is too long/],
  ["opencode", /maximum context length is \d+ tokens/i],
  ["Claude Code, with its numbers", /prompt is too long[^0-9]*12\s*tokens?\s*>\s*9/i],
])("%s recognizes the error for a prompt that is too long", (_, words) => {
  expect(tooManyTokens(request({ messages: [user("x")] }), 12, 10)?.message).toMatch(words);
});

test("a text that cannot fit gets an error with the same words", () => {
  const long = request({ messages: [user("x".repeat(41))] });
  expect(tooLargePrompt(long, { maxModelLen: 10, mostPromptBytes: 40 })?.message).toMatch(
    /prompt is too long: 'messages' has at least 41 bytes\. .*maximum context length is 10 tokens/,
  );
});
