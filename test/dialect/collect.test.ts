// Merges the events of one generation, in the same way for every API.

import { describe, expect, test } from "bun:test";
import { asIs, CollectedAnswer, collect, collectAll } from "../../src/dialect/stream/collect.ts";
import type { GenerateEvent } from "../../src/domain/generate.ts";
import { noUsage } from "../../src/domain/usage.ts";
import { token } from "../contract/scripts.ts";

async function* generation(...events: readonly GenerateEvent[]): AsyncGenerator<GenerateEvent, void, void> {
  yield* events;
}

const finish = { type: "finish", reason: "stop", usage: noUsage() } as const;

describe("an answer", () => {
  test("has its parts in order, and adjacent parts of the same kind merged", async () => {
    const answer = await collect(
      generation(
        { type: "accepted", promptTokens: 1, downgraded: false },
        { type: "reasoning", text: "Let me " },
        { type: "text", text: "", logprobs: [token("", -1)] },
        { type: "reasoning", text: "see." },
        { type: "text", text: "One", logprobs: [token("One", -2)] },
        { type: "text", text: " two" },
        { type: "tool_call", index: 0, id: "call_1", name: "f" },
        { type: "tool_call", index: 1, id: "call_2", name: "g" },
        { type: "tool_arguments", index: 0, text: "{}" },
        { type: "tool_arguments", index: 1, text: '{"a":' },
        { type: "tool_arguments", index: 1, text: "1}" },
        { type: "text", text: "." },
        finish,
      ),
      new CollectedAnswer(asIs),
    );
    const calls = [
      { type: "tool_call" as const, id: "call_1", name: "f", arguments: "{}" },
      { type: "tool_call" as const, id: "call_2", name: "g", arguments: '{"a":1}' },
    ];
    expect(answer.parts).toEqual([
      { type: "reasoning", text: "Let me see." },
      { type: "text", text: "One two" },
      ...calls,
      { type: "text", text: "." },
    ]);
    expect([answer.reasoning, answer.text, answer.calls]).toEqual(["Let me see.", "One two.", calls]);
    expect(answer.logprobs.map(({ token: text }) => text)).toEqual(["", "One"]);
    expect(answer.finish).toBe(finish);
  });

  test("is complete without its reasoning when that is not requested", async () => {
    const { parts } = await collect(
      generation({ type: "text", text: "a" }, { type: "reasoning", text: "hm" }, { type: "text", text: "b" }, finish),
      new CollectedAnswer(asIs, false),
    );
    expect(parts).toEqual([{ type: "text", text: "ab" }]);
  });

  test("without a finish is an error", async () => {
    const answer = await collect(generation({ type: "text", text: "a" }), new CollectedAnswer(asIs));
    expect(() => answer.finish).toThrow(expect.objectContaining({ code: "internal_error" }));
  });
});

test("several answers are told apart by their index", async () => {
  const answers = await collectAll(
    generation(
      { type: "text", text: "b", choice: 1 },
      { type: "text", text: "a" },
      { ...finish, choice: 1 },
      { ...finish, choice: 0 },
    ),
    2,
    asIs,
  );
  expect(answers.map(({ text }) => text)).toEqual(["a", "b"]);
});

test("an answer that restarts loses its earlier parts, and the others keep theirs", async () => {
  const [restarted, other] = await collectAll(
    generation(
      { type: "reasoning", text: "hm", choice: 0 },
      { type: "text", text: "No", logprobs: [token("No", -1)], choice: 0 },
      { type: "tool_call", index: 0, id: "call_1", name: "f", choice: 0 },
      { type: "text", text: "Yes", logprobs: [token("Yes", -1)], choice: 1 },
      { type: "restarted", choice: 0 },
      { type: "text", text: "Hello", logprobs: [token("Hello", -1)], choice: 0 },
      { ...finish, choice: 0 },
      { ...finish, choice: 1 },
    ),
    2,
    ({ token: text }) => text,
  );
  expect([restarted?.parts, restarted?.calls, restarted?.logprobs]).toEqual([
    [{ type: "text", text: "Hello" }],
    [],
    ["Hello"],
  ]);
  expect([other?.text, other?.logprobs]).toEqual(["Yes", ["Yes"]]);
});
