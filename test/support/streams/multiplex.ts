// Splits a multiplex stream into its items: each item's events obey the rules of a chat completion, and the stream
// ends once.

import { strict as assert } from "node:assert";
import { ChatCompletion } from "../../../src/contract/chat.ts";
import { MultiplexEvent, MultiplexFailure } from "../../../src/contract/multiplex.ts";
import { checker } from "../../../src/contract/schema.ts";
import { assembleChat, type ChatBody } from "./chat.ts";
import { serverSentEvents, withoutTerminator } from "./events.ts";

/** The result of one item. */
export interface MultiplexAnswer {
  /** The answer, whole or assembled from chunks; absent when the item failed. */
  readonly body?: ChatBody;
  readonly error?: MultiplexFailure["error"];
  /** The `object` of each event, in order; a profile event has none. */
  readonly objects: readonly (string | undefined)[];
  readonly profile?: unknown;
  readonly downgraded: boolean;
}

type Event = { readonly custom_id: string; readonly object?: string; readonly grammar_constraints?: string };

const checkEvent = checker(MultiplexEvent);
const checkWhole = checker(ChatCompletion);
const checkFailure = checker(MultiplexFailure);
const asStream = (events: readonly unknown[]) =>
  [...events.map((event) => JSON.stringify(event)), "[DONE]"].map((data) => `data: ${data}\n\n`).join("");

/** Returns the items of a stream by name. Throws where the stream breaks a rule. */
export function assembleMultiplex(text: string): ReadonlyMap<string, MultiplexAnswer> {
  const events = withoutTerminator(serverSentEvents(text)).map(({ data, event }) => {
    assert.equal(event, undefined, "events have no names");
    const value: unknown = JSON.parse(data);
    checkEvent(value);
    return value as Event;
  });
  return new Map([...Map.groupBy(events, (event) => event.custom_id)].map(([id, own]) => [id, answerOf(own)]));
}

function answerOf(events: readonly Event[]): MultiplexAnswer {
  const told = { objects: events.map(({ object }) => object) };
  const downgraded = events[0]?.grammar_constraints !== undefined;
  const last = events.at(-1);
  const failures = events.filter(({ object }) => object === "batch.error");
  if (failures.length > 0) {
    assert(failures.length === 1 && last === failures[0], "a failure is the last event of its item");
    return { ...told, downgraded, error: checkFailure(last).error };
  }
  assert(
    events.every((event) => (event.grammar_constraints !== undefined) === downgraded),
    "what holds of an item, all its events say",
  );
  if (last?.object === "chat.completion") {
    assert.equal(events.length, 1, "a whole answer is one event");
    return { ...told, downgraded, body: checkWhole(last) };
  }
  const profile = last?.object === undefined ? last : undefined;
  const { body } = assembleChat(asStream(profile ? events.slice(0, -1) : events));
  assert(body, "a chunk of an item is never an error");
  return { ...told, downgraded, body, ...(profile && { profile }) };
}
