// Streams of upstreams, split and ended in every way that the format allows.

import { expect, test } from "bun:test";
import { MessageReader, parseMessage } from "../../src/gateway/stream-lines.ts";

function read(body: string, piece: number, type = "text/event-stream", longest?: number): unknown[] {
  const bytes = new TextEncoder().encode(body);
  const reader = new MessageReader(type, longest);
  const messages: string[] = [];
  for (let at = 0; at < bytes.length && !reader.isOver; at += piece) {
    messages.push(...reader.push(bytes.slice(at, at + piece)));
  }
  if (!reader.isOver) messages.push(...reader.end());
  return messages.map(parseMessage);
}

const pieces = [...Array.from({ length: 60 }, (_, index) => index + 1), 1000];

test.each([
  ["LF", 'data: {"a":1}\n\ndata: {"b":"é"}\n\ndata: [DONE]\n\n'],
  ["CRLF", 'data: {"a":1}\r\n\r\ndata: {"b":"é"}\r\n\r\ndata: [DONE]\r\n\r\n'],
  ["CR alone", 'data: {"a":1}\r\rdata: {"b":"é"}\r\rdata: [DONE]\r\r'],
  ["data of several lines", 'data: {"a":\ndata: 1}\n\nevent: x\ndata: {\ndata: "b":"é"}\n\ndata: [DONE]\n\n'],
  ["comments, other fields and no space", ':ping\n\nid: 4\ndata:{"a":1}\n\n: ping\n\ndata:{"b":"é"}\n\n'],
  ["lines that end in different ways", 'data: {"a":\rdata: 1}\n\ndata: {"b":"é"}\r\n\ndata: [DONE]\n\n'],
  ["one line each, then others", 'data: {"a":1}\n\ndata: {"b":\ndata:"é"}\n\ndata: [DONE]\n\ndata: {"c":1}\n\n'],
  ["one line each behind others", ': ping\n\ndata:{"a":1}\n\ndata: {"b":"é"}\n\ndata: [DONE]\n\n'],
  ["nothing behind the last event", 'data: {"a":1}\n\ndata: {"b":"é"}'],
])("events with %s are read, however they are split", (_, body) => {
  for (const piece of pieces) expect(read(body, piece)).toEqual([{ a: 1 }, { b: "é" }]);
});

test.each(["", "text/plain; charset=utf-8", "application/octet-stream"])(
  "events and lines of type '%s' are told apart",
  (type) => {
    const events = 'data: {"a":1}\n\nevent: x\ndata: {"b":"é"}\n\ndata: [DONE]\n\n';
    for (const piece of pieces) {
      for (const beginning of ["", ": ping\n\n", "event: y\n", "id:1\n", "\n"]) {
        expect(read(beginning + events, piece, type)).toEqual([{ a: 1 }, { b: "é" }]);
      }
      expect(read('\n{"a":1}\n{"b":"é"}\n', piece, type)).toEqual([{ a: 1 }, { b: "é" }]);
      expect(() => read("error: no memory\n", piece, type)).toThrow("not JSON");
      expect(() => read("oops", piece, type)).toThrow("ended in the middle of a message");
    }
  },
);

test("lines of JSON and a single text are read", () => {
  for (const piece of pieces) {
    expect(read('{"a":1}\r\n\n{"b":2}', piece, "application/x-ndjson")).toEqual([{ a: 1 }, { b: 2 }]);
    expect(read('{"a":\n1}\n', piece, "application/json")).toEqual([{ a: 1 }]);
  }
});

test("a stream that breaks off, is not JSON or does not end is reported", () => {
  for (const piece of pieces) {
    expect(() => read('data: {"a":1}\n\ndata: {"b', piece)).toThrow("ended in the middle of a message");
    expect(() => read("data: nothing\n\n", piece)).toThrow("not JSON");
    expect(() => read(`data: "${"x".repeat(500)}"\n\n`, 100, "text/event-stream", 300)).toThrow("too long");
    expect(() => read(`data: "x"\ndata: "x"\n`.repeat(50), 100, "text/event-stream", 300)).toThrow("too long");
  }
});
