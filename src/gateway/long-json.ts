// Parses JSON of other servers, whose size is not limited elsewhere, without blocking the event loop.

import { JsonBounds } from "../domain/json-bounds.ts";
import { jsonOf } from "../domain/json.ts";
import { parseJson } from "../domain/json-pieces.ts";
import { nextTurn } from "../domain/next-turn.ts";
import { malformed } from "./upstream-failure.ts";

/** Up to this many characters, a text is too short to hold too many values. */
const SHORT = 64 * 1024;
/** Up to this many characters, a text is parsed at once, which takes some milliseconds. */
const PARSED_AT_ONCE = 2 ** 20;
/** Bytes to check or parse per turn of the event loop: some milliseconds, about as long as a turn of a busy server. */
const PIECE = 128 * 1024;
/** Maximum values in a message: enough for an answer of thousands of tokens with twenty alternatives each. */
const MOST_VALUES = 500_000;

export const isLong = (json: string): boolean => json.length > SHORT;

/** Parses JSON, in several turns if long. Throws UpstreamFailure about invalid JSON or too many values. */
export async function parseLong(json: string, mostValues = MOST_VALUES): Promise<unknown> {
  if (isLong(json)) await checkBounds(Buffer.from(json), mostValues);
  const inPieces = () => parseJson([Buffer.from(json)], nextTurn, PIECE).catch(() => undefined);
  const value = json.length <= PARSED_AT_ONCE ? jsonOf(json) : await inPieces();
  if (value === undefined) throw malformed("sent something that is not JSON");
  return value;
}

async function checkBounds(bytes: Uint8Array, mostValues: number): Promise<void> {
  // The same names occur again and again.
  const bounds = new JsonBounds(mostValues, mostValues);
  for (let at = 0; at < bytes.length; at += PIECE) {
    if (bounds.push(bytes.subarray(at, at + PIECE))) throw malformed("sent JSON that holds too much");
    await nextTurn();
  }
}
