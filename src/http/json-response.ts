// Writes JSON answers, large ones in parts and only as fast as the client reads them.

import { jsonParts } from "../domain/json-parts.ts";
import { nextTurn } from "../domain/next-turn.ts";
import { byteStream } from "./byte-stream.ts";
import type { RequestContext } from "./request-context.ts";

/** Characters up to which an answer is sent whole, with its length. */
const WHOLE = 256 * 1024;
/** Characters to write at a time of a larger answer. */
const PIECE = 64 * 1024;

/**
 * Returns the same answer as `Response.json`, except that a large one has no Content-Length. The request of `context`
 * ends only when the client has it or has disconnected.
 */
export function jsonResponse(value: unknown, init: ResponseInit = {}, context?: RequestContext): Response {
  const parts = jsonParts(value);
  const begin = textOf(parts, WHOLE);
  const isWhole = begin.length < WHOLE;
  const headers = { ...init.headers, "Content-Type": "application/json;charset=utf-8" };
  return new Response(isWhole ? begin : streamOf(begin, parts, context), { ...init, headers });
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

function streamOf(begin: string, rest: Iterator<string, void>, context: RequestContext | undefined) {
  const left = new AbortController();
  const { body, ended } = byteStream(piecesOf(begin, rest), {
    // The body of an answer whose client has disconnected is neither read nor cancelled.
    signal: context ? AbortSignal.any([context.signal, left.signal]) : left.signal,
    abort: () => left.abort(),
    ends: () => context?.bodyEnds(),
  });
  if (context) context.bodyEnded = ended;
  return body;
}

async function* piecesOf(begin: string, rest: Iterator<string, void>): AsyncGenerator<Uint8Array, void, void> {
  const encoder = new TextEncoder();
  for (let piece = begin; piece !== ""; piece = textOf(rest, PIECE)) {
    // A client that reads fast must not keep all others waiting.
    await nextTurn();
    yield encoder.encode(piece);
  }
}
