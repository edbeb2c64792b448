// Log probabilities in whole answers: a list has them for all of the text, or there is none.

import { expect, test } from "bun:test";
import type { FakeScript } from "../support/fake-text-engine.ts";
import { serverSentEvents, withoutTerminator } from "../support/streams/events.ts";
import { serve } from "./harness.ts";

const token = (text: string) => ({ token: text, logprob: -0.5, bytes: [...Buffer.from(text)], top: [] });
const TEXT = { steps: [{ text: "one two" }] };
const SCORED = { steps: [{ text: "one", logprobs: [token("one")] }] };
const NOTHING = { steps: [] };

const first = async (script: FakeScript, path: string, body: object) => {
  const answer = (await (await serve(script).post(path, body)).json()) as { choices: { logprobs: unknown }[] };
  return answer.choices[0]?.logprobs;
};

const CHAT = { messages: [{ role: "user", content: "hi" }], logprobs: true };

test("a chat without log probabilities of its text has null, one without text an empty list", async () => {
  expect(await first(TEXT, "/v1/chat/completions", CHAT)).toBeNull();
  expect(await first(NOTHING, "/v1/chat/completions", CHAT)).toEqual({ content: [], refusal: null });
  expect(await first(SCORED, "/v1/chat/completions", CHAT)).toMatchObject({ content: [{ token: "one" }] });
});

test("a chat with calls has no content, and an empty list of log probabilities", async () => {
  const call = { type: "tool_call", index: 0, id: "call_1", name: "weather" } as const;
  const body = { ...CHAT, tools: [{ type: "function", function: { name: "weather" } }] };
  for (const { steps } of [SCORED, NOTHING]) {
    expect(await first({ steps: [...steps, call] }, "/v1/chat/completions", body)).toEqual({
      content: [],
      refusal: null,
    });
  }
});

test("so it is for a raw completion", async () => {
  const body = { prompt: "hi", logprobs: 0 };
  expect(await first(TEXT, "/v1/completions", body)).toBeNull();
  expect(await first(NOTHING, "/v1/completions", body)).toMatchObject({ tokens: [] });
  expect(await first(SCORED, "/v1/completions", body)).toMatchObject({ tokens: ["one"] });
});

test("and for the stream of one", async () => {
  const streamed = async (script: FakeScript) => {
    const answer = await serve(script).post("/v1/completions", { prompt: "hi", logprobs: 0, stream: true });
    const [begin] = withoutTerminator(serverSentEvents(await answer.text()));
    return (JSON.parse(begin?.data ?? "") as { choices: { logprobs: unknown }[] }).choices[0]?.logprobs;
  };
  expect(await streamed(TEXT)).toBeNull();
  expect(await streamed(SCORED)).toMatchObject({ tokens: ["one"] });
});
