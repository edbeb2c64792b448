import { expect, test } from "bun:test";
import type { OutputEvent } from "../../src/domain/generate.ts";
import { appendEvents } from "../../src/domain/held-text.ts";

const joined = (...all: OutputEvent[]) => {
  const events: OutputEvent[] = [];
  for (const event of all) appendEvents(events, [event]);
  return events;
};

test("an event that continues the last one is merged into it", () => {
  expect(joined({ type: "text", text: "a" }, { type: "text", text: "b" })).toEqual([
    { type: "text", text: "ab", sampled: 2 },
  ]);
  const several = { type: "text", text: "b", sampled: 3 } as const;
  expect(joined({ type: "text", text: "a" }, several)).toMatchObject([{ text: "ab", sampled: 4 }]);
  expect(
    joined({ type: "reasoning", text: "a" }, { type: "reasoning", text: "b" }, { type: "text", text: "c" }),
  ).toEqual([
    { type: "reasoning", text: "ab", sampled: 2 },
    { type: "text", text: "c" },
  ]);
});

test("arguments of different calls are not merged", () => {
  const events: OutputEvent[] = [
    { type: "tool_arguments", index: 0, text: "{" },
    { type: "tool_arguments", index: 0, text: "}" },
    { type: "tool_call", index: 1, id: "x", name: "f" },
    { type: "tool_arguments", index: 1, text: "{" },
  ];
  expect(joined(...events)).toEqual([{ type: "tool_arguments", index: 0, text: "{}", sampled: 2 }, ...events.slice(2)]);
});

test("log probabilities stay with their text", () => {
  const logprobs = [{ token: "a", logprob: -1, bytes: [97], top: [] }];
  const events: OutputEvent[] = [
    { type: "text", text: "a", logprobs },
    { type: "text", text: "b" },
  ];
  expect(joined(...events)).toEqual(events);
});
