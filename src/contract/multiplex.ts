// POST /v1/batch/completions: many chat completions in one request, answered as one stream.

import { ChatCompletion, ChatCompletionChunk, ChatCompletionRequest, ChatProfileEvent } from "./chat.ts";
import { ErrorObject } from "./errors.ts";
import { JsonObject, t, type Static, type TSchema } from "./schema.ts";

export const MOST_ITEMS = 64;
/** Every event repeats the id, so it must be short. */
const LONGEST_CUSTOM_ID = 512;

const requestOf = <S extends TSchema>(body: S) =>
  t.Object({
    requests: t.Array(
      t.Object({
        custom_id: t.String({
          minLength: 1,
          maxLength: LONGEST_CUSTOM_ID,
          description: "Names the item in every event; unique in the request.",
        }),
        body,
      }),
      { minItems: 1, maxItems: MOST_ITEMS },
    ),
  });

export const MultiplexRequest = requestOf(ChatCompletionRequest);
/** The request without its items' bodies, which are checked like chat completions. */
export const MultiplexEnvelope = requestOf(JsonObject);

/** Fields of every event, whatever its type. */
const tag = {
  custom_id: t.String(),
  grammar_constraints: t.Optional(
    t.Literal("downgraded", { description: "The item's strict schema is not or not fully enforced." }),
  ),
};

/** A failed item: its only event, or its last one when it failed in the middle of its stream. */
export const MultiplexFailure = t.Object({
  ...tag,
  object: t.Literal("batch.error"),
  error: t.Object({
    ...ErrorObject.properties,
    custom_id: t.String({
      description: "The custom_id of the item again, because clients that raise an error keep only this object.",
    }),
  }),
});

// An item that fails has an event of its own for that.
const { error: _error, ...chunk } = ChatCompletionChunk.properties;

/** One event of the stream; `object` names its type, except for a profile, which has no `object`. */
export const MultiplexEvent = t.Union([
  t.Object({ ...tag, ...chunk }),
  t.Object({ ...tag, ...ChatCompletion.properties }),
  MultiplexFailure,
  t.Object({ ...tag, ...ChatProfileEvent.properties }),
]);

export type MultiplexFailure = Static<typeof MultiplexFailure>;
