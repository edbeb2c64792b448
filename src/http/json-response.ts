// Writes JSON answers, large ones in parts and only as fast as the client reads them.

import { jsonParts } from "../domain/json-parts.ts";
import { nextTurn } from "../domain/next-turn.ts";

/** Characters up to which an answer is sent whole, with its length. */
const WHOLE = 256 * 1024;
/** Characters to write at a time of a larger answer. */
const PIECE = 64 * 1024;

/**
 * Returns the same answer as `Response.json`, except that a large one has no Content-Length. `ends` is called when the
 * client has the answer or has disconnected.
 */
export function jsonResponse(value: unknown, init: ResponseInit = {}, ends: () => void = () => {}): Response {
  const parts = jsonParts(value);
  const begin = textOf(parts, WHOLE);
  const isWhole = begin.length < WHOLE;
  const headers = { ...init.headers, "Content-Type": "application/json;charset=utf-8" };
  if (isWhole) ends();
  return new Response(isWhole ? begin : streamOf(begin, parts, ends), { ...init, headers });
}

/** Returns the next parts, at least `most` characters unless there are no more. */
function textOf(parts: Iterator<string, void>, most: number): string {
  let text = "";
  while (text.length < most) {
    const { value, done } = parts.next();
    if (done) break;
    text += value;
  }
  return text;
}

function streamOf(begin: string, rest: Iterator<string, void>, ends: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next = begin;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // A client that reads fast must not keep all others waiting.
        await nextTurn();
        controller.enqueue(encoder.encode(next));
        next = textOf(rest, PIECE);
        if (next !== "") return;
        controller.close();
        ends();
      },
      cancel: ends,
    },
    { highWaterMark: 0 },
  );
}
