// POST /v1/chat/completions/{id}/cancel

import { t, type Static } from "./schema.ts";

export const Cancellation = t.Object({
  id: t.String({ description: "The correlation id of the request to cancel." }),
  object: t.Literal("chat.completion.cancellation"),
  cancelled: t.Boolean({ description: "false: no request with this id was running or queued (status 404)." }),
});

export type Cancellation = Static<typeof Cancellation>;
