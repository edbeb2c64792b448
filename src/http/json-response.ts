// Writes JSON answers, large ones in pieces: 40 MB at once would block other requests for half a second.

import { TurnLimit } from "../domain/turn-limit.ts";

/** Characters written per event loop turn. */
const TURN_CHARACTERS = 256 * 1024;
const PIECE_CHARACTERS = 64 * 1024;
/** Levels of nesting that are split; deeper values are small. */
const LEVELS = 5;

/** Returns the same answer as `Response.json`. */
export async function jsonResponse(value: unknown, init: ResponseInit = {}): Promise<Response> {
  const turns = new TurnLimit(TURN_CHARACTERS);
  const pieces: string[] = [];
  let piece = "";
  for (const part of partsOf(value, LEVELS)) {
    piece += part;
    if (piece.length < PIECE_CHARACTERS) continue;
    await turns.enter(piece.length);
    pieces.push(piece);
    piece = "";
  }
  const body = pieces.length === 0 ? piece : new Blob([...pieces, piece]);
  return new Response(body, {
    ...init,
    headers: { ...init.headers, "Content-Type": "application/json;charset=utf-8" },
  });
}

/** Yields the JSON text of a value in parts. */
function* partsOf(value: unknown, levels: number): Generator<string, void, void> {
  if (levels === 0 || typeof value !== "object" || value === null || "toJSON" in value) {
    yield JSON.stringify(value) ?? "null";
  } else if (!Array.isArray(value)) {
    yield* listed("{", membersOf(value, levels), "}");
  } else if (typeof value[0] === "object") {
    yield* listed(
      "[",
      value.values().map((item) => partsOf(item, levels - 1)),
      "]",
    );
  } else yield JSON.stringify(value);
}

function* membersOf(value: object, levels: number): Generator<Iterable<string>, void, void> {
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) yield named(name, partsOf(member, levels - 1));
  }
}

function* named(name: string, parts: Iterable<string>): Generator<string, void, void> {
  yield `${JSON.stringify(name)}:`;
  yield* parts;
}

function* listed(begin: string, items: Iterable<Iterable<string>>, end: string): Generator<string, void, void> {
  let before = begin;
  for (const item of items) {
    yield before;
    yield* item;
    before = ",";
  }
  yield before === begin ? begin + end : end;
}
