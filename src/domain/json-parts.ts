// Writes a value as JSON text in parts, so that a large value neither blocks the event loop nor is in memory twice.

/** Characters of a part, about: a fraction of a millisecond of work. */
const PART = 16 * 1024;
/** Characters of a value that is no text, about. */
const PLAIN = 8;

/**
 * Yields the JSON text of a value, as `JSON.stringify` returns it, in parts of a few ten thousand characters. Typed
 * arrays and generators are lists, too; a generator makes its items as they are written.
 */
export function* jsonParts(value: unknown): Generator<string, void, void> {
  if (roomAfter(value, PART) >= 0) yield JSON.stringify(value) ?? "null";
  else if (typeof value === "string") yield* stringParts(value);
  else if (Array.isArray(value)) yield* listed("[", itemsOf(value), "]");
  else if (isIterable(value)) yield* listed("[", madeItems(value), "]");
  else yield* listed("{", membersOf(value as object), "}");
}

/** Returns what a value leaves of `room` characters; negative if it takes more. Reads no more of it than that takes. */
function roomAfter(value: unknown, room: number): number {
  if (typeof value === "string") return room - value.length;
  if (typeof value !== "object" || value === null) return room - PLAIN;
  if (!Array.isArray(value) && isIterable(value)) return -1;
  let left = room - PLAIN;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at++) left = roomAfter(value[at], left);
  } else {
    for (const name in value) {
      if (left < 0) break;
      left = roomAfter((value as Readonly<Record<string, unknown>>)[name], left - name.length);
    }
  }
  return left;
}

function* stringParts(text: string): Generator<string, void, void> {
  yield '"';
  for (let at = 0; at < text.length;) {
    const end = wholePairs(text, at + PART);
    yield JSON.stringify(text.slice(at, end)).slice(1, -1);
    at = end;
  }
  yield '"';
}

/** Returns `end`, or the index before it if a surrogate pair would be cut there: halves of pairs are escaped. */
const wholePairs = (text: string, end: number): number =>
  end < text.length && (text.codePointAt(end - 1) ?? 0) > 0xffff ? end - 1 : end;

/** Yields small items of an array many at a time. */
function* itemsOf(items: readonly unknown[]): Generator<Iterable<string>, void, void> {
  for (let at = 0; at < items.length;) {
    let [end, room] = [at, PART];
    while (end < items.length && (room = roomAfter(items[end], room)) >= 0) end++;
    if (end === at) yield jsonParts(items[at++]);
    else {
      yield [JSON.stringify(items.slice(at, end)).slice(1, -1)];
      at = end;
    }
  }
}

const isIterable = (value: unknown): value is Iterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.iterator in value;

function* madeItems(items: Iterable<unknown>): Generator<Iterable<string>, void, void> {
  let [made, room]: [unknown[], number] = [[], PART];
  for (const item of items) {
    made.push(item);
    room = roomAfter(item, room);
    if (room >= 0) continue;
    yield* itemsOf(made);
    [made, room] = [[], PART];
  }
  yield* itemsOf(made);
}

function* membersOf(value: object): Generator<Iterable<string>, void, void> {
  for (const [name, member] of Object.entries(value)) if (member !== undefined) yield named(name, member);
}

function* named(name: string, value: unknown): Generator<string, void, void> {
  yield `${JSON.stringify(name)}:`;
  yield* jsonParts(value);
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
