// GET /health

import { oneOf, t, type Static } from "./schema.ts";

export const Health = t.Object({
  status: oneOf("healthy", "loading", "degraded"),
  timestamp: t.Number({ description: "Unix time in seconds, with fractions." }),
  version: t.String({ description: "Version of this build." }),
  engine: t.Object({
    state: oneOf("none", "starting", "loading", "ready", "draining", "stopped", "failed"),
    restarts: t.Integer({ description: "Engine processes started after the first." }),
    progress: t.Optional(t.Number({ description: "Share of the model loaded, 0 to 1." })),
    last_error: t.Optional(t.String({ description: "How the last engine process ended." })),
  }),
  model: t.String(),
});

export type Health = Static<typeof Health>;
