// GET /v1/requests

import { oneOf, t, type Static } from "./schema.ts";

const Seconds = (description: string) => t.Optional(t.Number({ description: `Seconds ${description}` }));

const RequestRecord = t.Object({
  object: t.Literal("request"),
  id: t.Optional(
    t.String({ description: "The request's correlation id, by which it is cancelled; absent: not by you." }),
  ),
  engine: t.String({ description: "What computes it: `text`, `embedding`, `transcription`, `speech`, …" }),
  model: t.String(),
  state: oneOf("waiting", "running", "ended"),
  created: t.Number({ description: "Unix time in seconds, with fractions, at which it was admitted." }),
  total_time: t.Number({ description: "Seconds since then, or until its end." }),
  prompt_tokens: t.Integer(),
  processed_prompt_tokens: t.Optional(
    t.Integer({ description: "Of these, computed or cached so far; absent when it has ended, or where nobody knows." }),
  ),
  completion_tokens: t.Integer({
    description: "While it runs, those sampled so far (of an upstream, pieces of text); then all.",
  }),
  cached_tokens: t.Optional(t.Integer({ description: "Prompt tokens that came from the KV cache." })),
  queue_time: Seconds("from acceptance to the start of prefill."),
  time_to_first_token: Seconds("from admission to the first text."),
  prompt_time: Seconds("from the start of prefill to the first token."),
  completion_time: Seconds("from the first token to the last."),
  finish_reason: t.Optional(oneOf("stop", "length", "tool_calls", "cancelled")),
  error: t.Optional(t.String({ description: "The code of the error that it ended with." })),
});

export const RequestList = t.Object({
  object: t.Literal("list"),
  data: t.Array(RequestRecord, {
    description:
      "Requests that wait or run, in the order of their admission; then the last ones that ended, the newest first.",
  }),
});

export type RequestList = Static<typeof RequestList>;
