// Streams of Ollama's API, whose lines have whole calls.

import { expect, test } from "bun:test";
import { ollamaWriter } from "../../src/dialect/ollama/encode.ts";
import type { GenerateEvent } from "../../src/domain/generate.ts";
import { noUsage } from "../../src/domain/usage.ts";

test("text and reasoning that follow a call come after it", () => {
  const call = (name: string): GenerateEvent[] => [
    { type: "tool_call", id: name, name, index: 0 },
    { type: "tool_arguments", index: 0, text: '{"city":' },
    { type: "tool_arguments", index: 0, text: '"Rome"}' },
  ];
  const events: GenerateEvent[] = [
    ...call("first"),
    { type: "text", text: "and" },
    ...call("second"),
    { type: "reasoning", text: "hm" },
    { type: "finish", reason: "tool_calls", usage: noUsage() },
  ];
  const lines: string[] = [];
  const writer = ollamaWriter((line) => lines.push(line), { form: "chat", model: "m", wall: () => 0 });
  for (const event of events) writer.event(event);
  const pieces = lines.map((line) => {
    const { content, thinking, tool_calls } = JSON.parse(line).message;
    return tool_calls?.[0].function.name ?? (thinking || content);
  });
  expect(pieces).toEqual(["first", "and", "second", "hm", ""]);
});
