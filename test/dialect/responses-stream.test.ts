// A stream of the Responses API whose client disconnects after any event: its end is reported once.

import { expect, test } from "bun:test";
import { responseWriter, type ResponseEnd } from "../../src/dialect/responses/encode.ts";
import { newResource } from "../../src/dialect/responses/resource.ts";
import { DONE, streamed, type LongEvent, type Put } from "../../src/dialect/stream/streamed.ts";
import type { GenerateEvent } from "../../src/domain/generate.ts";
import { noUsage } from "../../src/domain/usage.ts";

async function* generation(): AsyncGenerator<GenerateEvent, void, void> {
  yield { type: "text", text: "a" };
  yield { type: "text", text: "b" };
  yield { type: "finish", reason: "stop", usage: noUsage() };
}

test("what repeats all log probabilities is written in small parts", async () => {
  const resource = newResource({ id: "resp_1", createdAt: 0, model: "m" }, { input: "hi" }, {});
  const logprob = { token: "a", id: 1, bytes: [97], logprob: -1, top: [] };
  const events = Array.from({ length: 5000 }, (): GenerateEvent => ({ type: "text", text: "a", logprobs: [logprob] }));
  const chunks: LongEvent[] = [];
  const writer = responseWriter((chunk) => chunks.push(chunk), {
    resource,
    tools: new Map(),
    now: () => 0,
    onEnd() {},
  });
  for (const event of events) writer.event(event);
  writer.event({ type: "finish", reason: "stop", usage: noUsage() });
  writer.end?.();
  const parts = chunks.map(({ data }) => (typeof data === "string" ? [data] : [...data]));
  expect(Math.max(...parts.flat().map(({ length }) => length))).toBeLessThan(100_000);
  const { response } = JSON.parse(parts.at(-1)?.join("") ?? "");
  expect(response.output[0].content[0].logprobs).toHaveLength(5000);
});

test("a stream that is abandoned after any event reports one end", async () => {
  const resource = newResource({ id: "resp_1", createdAt: 0, model: "m" }, { input: "hi" }, {});
  for (let read = 1, last: LongEvent | string | void = ""; last !== DONE; read++) {
    const ends: ResponseEnd[] = [];
    const context = { resource, tools: new Map(), now: () => 0, onEnd: (end: ResponseEnd) => ends.push(end) };
    const { signal } = new AbortController();
    const writer = (put: Put<LongEvent | string>) => responseWriter(put, context);
    const stream: AsyncGenerator<LongEvent | string, void, void> = streamed(generation(), writer, {
      signal,
      terminator: DONE,
      onUnexpected: () => {},
    });
    for (let events = 0; events < read; events++) last = (await stream.next()).value;
    await stream.return();
    expect(ends.length).toBe(1);
    const isOver = last === DONE || (typeof last === "object" && last.event === "response.completed");
    expect(ends[0]?.resource.status).toBe(isOver ? "completed" : "cancelled");
    expect(ends[0]?.resource.output.every((item) => item.status !== "in_progress")).toBe(true);
  }
});
