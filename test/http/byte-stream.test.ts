import { expect, test } from "bun:test";
import { byteStream } from "../../src/http/byte-stream.ts";

/** Starts a body of `count` bytes, sent one at a time, and records how it ends. */
function start(count: number, readerPatienceMs = 60_000) {
  const left = new AbortController();
  const seen: string[] = [];
  async function* source(): AsyncGenerator<Uint8Array, void, void> {
    try {
      for (let at = 0; at < count; at++) yield Uint8Array.of(at);
    } finally {
      seen.push("source ended");
    }
  }
  const abort = () => left.abort();
  const ends = () => void seen.push("body ends");
  const stream = byteStream(source(), { signal: left.signal, abort, ends, readerPatienceMs });
  return { ...stream, seen, left };
}

test("a body that is read completely is closed once, and so is its source", async () => {
  const { body, ended, seen, left } = start(3);
  expect([...(await new Response(body).bytes())]).toEqual([0, 1, 2]);
  await ended;
  left.abort();
  expect(seen).toEqual(["source ended", "body ends"]);
});

test.each([0, 1])("a reader that cancels after %i reads ends the source", async (reads) => {
  const { body, ended, seen } = start(3);
  const reader = body.getReader();
  for (let read = 0; read < reads; read++) await reader.read();
  await reader.cancel();
  await ended;
  expect(seen.toSorted()).toEqual(["body ends", "source ended"]);
});

test("a client that disconnects before the body is read ends the source", async () => {
  const { ended, seen, left } = start(3);
  left.abort();
  await ended;
  expect(seen).toContain("source ended");
});

test("a reader that stops reading ends the source", async () => {
  const { body, ended, seen } = start(3, 1);
  await body.getReader().read();
  await ended;
  expect(seen).toContain("source ended");
});
