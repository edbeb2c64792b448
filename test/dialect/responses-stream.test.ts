// A stream of the Responses API whose client disconnects after any event: its end is reported once.

import { expect, test } from "bun:test";
import { responseWriter, type ResponseEnd } from "../../src/dialect/responses/encode.ts";
import { newResource } from "../../src/dialect/responses/resource.ts";
import { DONE, streamed, type NamedEvent, type Put } from "../../src/dialect/stream/streamed.ts";
import type { GenerateEvent } from "../../src/domain/generate.ts";
import { noUsage } from "../../src/domain/usage.ts";

async function* generation(): AsyncGenerator<GenerateEvent, void, void> {
  yield { type: "text", text: "a" };
  yield { type: "text", text: "b" };
  yield { type: "finish", reason: "stop", usage: noUsage() };
}

test("a stream that is abandoned after any event reports one end", async () => {
  const resource = newResource({ id: "resp_1", createdAt: 0, model: "m" }, { input: "hi" }, {});
  for (let read = 1, last: NamedEvent | string | void = ""; last !== DONE; read++) {
    const ends: ResponseEnd[] = [];
    const context = { resource, names: new Map(), now: () => 0, onEnd: (end: ResponseEnd) => ends.push(end) };
    const { signal } = new AbortController();
    const writer = (put: Put<NamedEvent | string>) => responseWriter(put, context);
    const stream: AsyncGenerator<NamedEvent | string, void, void> = streamed(generation(), writer, {
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
