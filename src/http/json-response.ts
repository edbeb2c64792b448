// Writes JSON answers, large ones in parts and only as fast as the client reads them.

import type { ByteBudget } from "../domain/byte-budget.ts";
import type { SvcError } from "../domain/errors.ts";
import { jsonParts } from "../domain/json-parts.ts";
import { nextTurn } from "../domain/next-turn.ts";
import { HeldAnswer } from "../service/held-answer.ts";
import { byteStream } from "./byte-stream.ts";
import type { RequestContext } from "./request-context.ts";

/** Characters up to which an answer is sent whole, with its length. */
const WHOLE = 256 * 1024;
/** Characters to write at a time of a larger answer. */
const PIECE = 64 * 1024;
/** Bytes of an answer that takes memory until it is read, which its reader must take within its patience of 5 minutes. */
export const LEAST_READ = 640 * 1024;

/**
 * Returns the same answer as `Response.json`, except that a large one has no Content-Length. The request of `context`
 * ends only when the client has it or has disconnected.
 */
export function jsonResponse(
  context: RequestContext,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const parts = jsonParts(value);
  const begin = textOf(parts, WHOLE);
  const isWhole = begin.length < WHOLE;
  const body = isWhole
    ? begin
    : context.stream((reader) => byteStream(piecesOf(begin, parts), { ...reader, leastBytes: LEAST_READ }));
  return new Response(body, { headers: { ...headers, "Content-Type": "application/json;charset=utf-8" } });
}

/**
 * Returns the response of `answer`, whose parts hold memory of `budget` until its body has ended, or `answer` throws.
 * `tooLarge`: returns the error about an answer that exceeds the budget alone.
 */
export async function wholeAnswer(
  budget: ByteBudget,
  context: Pick<RequestContext, "bodyClosed">,
  answer: (held: HeldAnswer) => Promise<Response>,
  tooLarge?: (limit: string) => SvcError,
): Promise<Response> {
  const held = new HeldAnswer(budget, tooLarge);
  try {
    return await answer(held);
  } finally {
    if (context.bodyClosed) void context.bodyClosed.then(() => held.close());
    else held.close();
  }
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

async function* piecesOf(begin: string, rest: Iterator<string, void>): AsyncGenerator<Uint8Array, void, void> {
  const encoder = new TextEncoder();
  for (let piece = begin; piece !== ""; piece = textOf(rest, PIECE)) {
    // A client that reads fast must not keep all others waiting.
    await nextTurn();
    yield encoder.encode(piece);
  }
}
