// Other servers' streams, cut and ended in every way that the format allows.

import { expect, test } from "bun:test";
import { MessageReader } from "../../src/gateway/stream-lines.ts";

async function read(body: string, piece: number, type = "text/event-stream", longest?: number): Promise<unknown[]> {
  const bytes = new TextEncoder().encode(body);
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += piece) controller.enqueue(bytes.slice(at, at + piece));
      controller.close();
    },
  });
  const response = new Response(stream, { headers: { "content-type": type } });
  const reader = new MessageReader(response, longest);
  const messages: unknown[] = [];
  for (let some = await reader.next(); some; some = await reader.next()) messages.push(...some);
  return messages;
}

const pieces = [1, 2, 3, 7, 1000];

test.each([
  ["LF", 'data: {"a":1}\n\ndata: {"b":"é"}\n\ndata: [DONE]\n\n'],
  ["CRLF", 'data: {"a":1}\r\n\r\ndata: {"b":"é"}\r\n\r\ndata: [DONE]\r\n\r\n'],
  ["CR alone", 'data: {"a":1}\r\rdata: {"b":"é"}\r\rdata: [DONE]\r\r'],
  ["data of several lines", 'data: {"a":\ndata: 1}\n\nevent: x\ndata: {\ndata: "b":"é"}\n\ndata: [DONE]\n\n'],
  ["comments, other fields and no space", ':ping\n\nid: 4\ndata:{"a":1}\n\n: ping\n\ndata:{"b":"é"}\n\n'],
  ["nothing behind the last event", 'data: {"a":1}\n\ndata: {"b":"é"}'],
])("events with %s", async (_, body) => {
  for (const piece of pieces) expect(await read(body, piece)).toEqual([{ a: 1 }, { b: "é" }]);
});

test("lines of JSON, and one text", async () => {
  for (const piece of pieces) {
    expect(await read('{"a":1}\r\n\n{"b":2}', piece, "application/x-ndjson")).toEqual([{ a: 1 }, { b: 2 }]);
    expect(await read('{"a":\n1}\n', piece, "application/json")).toEqual([{ a: 1 }]);
  }
});

test("what breaks off, is no JSON or does not end is told", async () => {
  for (const piece of pieces) {
    await expect(read('data: {"a":1}\n\ndata: {"b', piece)).rejects.toThrow("ended in the middle of a message");
    await expect(read("data: nothing\n\n", piece)).rejects.toThrow("no JSON");
    await expect(read(`data: "${"x".repeat(500)}"\n\n`, 100, "text/event-stream", 300)).rejects.toThrow("too long");
    await expect(read(`data: "x"\ndata: "x"\n`.repeat(50), 100, "text/event-stream", 300)).rejects.toThrow("too long");
  }
});
