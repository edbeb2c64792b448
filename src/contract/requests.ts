// GET /v1/requests

import { FINISH_REASONS } from "../domain/usage.ts";
import { oneOf, t, type Static } from "./schema.ts";

const Seconds = (description: string) => t.Optional(t.Number({ description: `Seconds ${description}` }));

const RequestRecord = t.Object({
  object: t.Literal("request"),
  id: t.Optional(
    t.String({
      description: "The request's correlation id, by which it is cancelled; absent if the caller may not cancel it.",
    }),
  ),
  engine: t.String({ description: "Kind of the engine: `text`, `embedding`, `transcription`, `speech`, …" }),
  model: t.String(),
  state: oneOf("waiting", "running", "ended"),
  created: t.Number({ description: "Unix time in seconds, with fractions, at which the request was admitted." }),
  total_time: t.Number({ description: "Seconds since the admission; for an ended request, until its end." }),
  prompt_tokens: t.Integer(),
  processed_prompt_tokens: t.Optional(
    t.Integer({
      description: "Prompt tokens that are computed or cached so far; absent if unknown, and after the end.",
    }),
  ),
  completion_tokens: t.Integer({
    description: "While the request runs, tokens sampled so far (for an upstream, pieces of text); after its end, all.",
  }),
  cached_tokens: t.Optional(t.Integer({ description: "Prompt tokens that were in the KV cache." })),
  queue_time: Seconds("from acceptance to the start of prefill."),
  time_to_first_token: Seconds("from admission to the first text."),
  prompt_time: Seconds("from the start of prefill to the first token."),
  completion_time: Seconds("from the first token to the last."),
  finish_reason: t.Optional(oneOf(...FINISH_REASONS)),
  error: t.Optional(t.String({ description: "The code of the error with which the request ended." })),
});

export const RequestList = t.Object({
  object: t.Literal("list"),
  data: t.Array(RequestRecord, {
    description:
      "Waiting and running requests in the order of their admission, then the requests that ended last, the newest first.",
  }),
});

export type RequestList = Static<typeof RequestList>;
