// A stream of the responses convention whose client leaves, wherever that is: its end is told once.

import { expect, test } from "bun:test";
import type { NamedEvent } from "../../src/dialect/fields/stream.ts";
import { encodeResponseEvents, terminated, type ResponseEnd } from "../../src/dialect/responses/encode.ts";
import { newResource } from "../../src/dialect/responses/resource.ts";
import type { GenerateEvent } from "../../src/domain/generate.ts";
import { noUsage } from "../../src/domain/usage.ts";

async function* generation(): AsyncGenerator<GenerateEvent, void, void> {
  yield { type: "text", text: "a" };
  yield { type: "text", text: "b" };
  yield { type: "finish", reason: "stop", usage: noUsage() };
}

test("each event may be the last that is read", async () => {
  const resource = newResource({ id: "resp_1", createdAt: 0, model: "m" }, { input: "hi" }, {});
  for (let read = 1, last: NamedEvent | string | void = ""; last !== "[DONE]"; read++) {
    const ends: ResponseEnd[] = [];
    const context = { resource, names: new Map(), now: () => 0, onEnd: (end: ResponseEnd) => ends.push(end) };
    const { signal } = new AbortController();
    const stream = terminated(encodeResponseEvents(generation(), context, { signal, onUnexpected: () => {} }), signal);
    for (let events = 0; events < read; events++) last = (await stream.next()).value;
    await stream.return();
    expect(ends.length).toBe(1);
    const isOver = last === "[DONE]" || (typeof last === "object" && last.event === "response.completed");
    expect(ends[0]?.resource.status).toBe(isOver ? "completed" : "cancelled");
    expect(ends[0]?.resource.output.every((item) => item.status !== "in_progress")).toBe(true);
  }
});
