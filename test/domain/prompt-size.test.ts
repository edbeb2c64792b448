import { expect, test } from "bun:test";
import type { GenerateRequest } from "../../src/domain/generate.ts";
import { tooLargePrompt } from "../../src/domain/prompt-size.ts";
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
  ["as many messages as may be", { messages: Array.from({ length: 4096 }, () => user("")) }, undefined],
  ["too many messages", { messages: Array.from({ length: 4097 }, () => user("")) }, "at most 4096 messages"],
] as const)("the size of a prompt: %s", (_, fields, told) => {
  const refusal = tooLargePrompt(request(fields as Partial<GenerateRequest>), limits);
  if (told === undefined) expect(refusal).toBeUndefined();
  else expect(refusal?.message).toContain(told);
});

test("a model whose tokens have no known length takes any text", () => {
  expect(tooLargePrompt(request({ messages: [user("x".repeat(1000))] }), { maxModelLen: 10 })).toBeUndefined();
});
