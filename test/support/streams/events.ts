// Splits a streamed body into the events that a client dispatches on.

import { strict as assert } from "node:assert";

export interface StreamEvent {
  readonly event: string | undefined;
  readonly data: string;
}

/** The fields that identify an answer of the Chat Completions API. */
interface Origin {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
  readonly system_fingerprint?: string;
}

/**
 * The result of a stream: the answer that the same request would get without streaming, or the error that ended the
 * stream.
 */
export interface Assembled<Body> {
  readonly body?: Body;
  readonly error?: { readonly message: string };
}

/** Parses server-sent events, without comments. Throws where the framing is broken. */
export function serverSentEvents(body: string): StreamEvent[] {
  assert(body.endsWith("\n\n"), "a stream ends with an empty line");
  return body
    .slice(0, -2)
    .split("\n\n")
    .filter((block) => !block.startsWith(":"))
    .map((block) => {
      const lines = block.split("\n");
      const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice("data: ".length));
      const names = lines.filter((line) => line.startsWith("event: ")).map((line) => line.slice("event: ".length));
      assert(data.length === 1 && names.length <= 1 && lines.length === data.length + names.length, "a broken event");
      return { event: names[0], data: data[0] ?? "" };
    });
}

/** Returns the objects of a stream. Throws unless exactly one `[DONE]` ends it. */
export function withoutTerminator(events: readonly StreamEvent[]): StreamEvent[] {
  assert.equal(events.at(-1)?.data, "[DONE]", "the last event is the terminator");
  const others = events.slice(0, -1);
  assert(
    others.every(({ data }) => data !== "[DONE]"),
    "there is one terminator",
  );
  return others;
}

/** Returns the chunks of a chat or completion, and the error that ends it. Throws where the stream breaks a rule of both. */
export function readChunks<Chunk extends Origin>(text: string, check: (chunk: unknown) => Chunk) {
  const chunks = withoutTerminator(serverSentEvents(text)).map(({ data, event }) => {
    assert.equal(event, undefined, "chunks have no event names");
    return check(JSON.parse(data)) as Chunk & Assembled<never>;
  });
  for (const key of ["id", "object", "created", "model", "system_fingerprint"] as const) {
    assert.equal(new Set(chunks.map((chunk) => chunk[key])).size, 1, `${key} is constant`);
  }
  const error = chunks.find((chunk) => chunk.error)?.error;
  if (error) assert.equal(chunks.at(-1)?.error, error, "an error is the last chunk");
  return { chunks, error };
}

/** Groups the parts of choices. Throws unless the choices are numbered from 0. */
export function byIndex<Part extends { readonly index: number }>(parts: readonly Part[]): Part[][] {
  const choices = [...Map.groupBy(parts, ({ index }) => index)].sort(([a], [b]) => a - b);
  choices.forEach(([index], place) => assert.equal(index, place, "choices are numbered from 0"));
  return choices.map(([, own]) => own);
}
