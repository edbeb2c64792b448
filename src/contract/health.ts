// GET /health

import { oneOf, t, type Static } from "./schema.ts";

/** The state of an engine. */
const engine = {
  state: oneOf("none", "unloaded", "starting", "loading", "ready", "stalled", "draining", "stopped", "failed"),
  restarts: t.Integer({ description: "Engine processes started because their predecessor died." }),
  progress: t.Optional(t.Number({ description: "Share of the model loaded, 0 to 1." })),
  stalled_since: t.Optional(
    t.Number({
      description:
        "Unix time in seconds of the last sign of life of an engine process that stands still. Where it is the only one, the engine is `stalled`: requests are refused until it recovers or is restarted.",
    }),
  ),
  last_error: t.Optional(t.String({ description: "How the last engine process ended that died." })),
  device: t.Optional(
    t.String({
      description:
        "Where a text, embedding, transcription or image model computes, once it was loaded: workers, GPUs, or the CPU with its threads.",
    }),
  ),
};

const EngineHealth = t.Object({
  kind: t.String({
    description: "What the engine computes: `text`, `embedding`, `transcription`, `speech`, `recognition` or `image`.",
  }),
  model: t.String(),
  ...engine,
  running: t.Integer({ description: "Requests that are computed." }),
  waiting: t.Integer({ description: "Requests that wait for their turn, or for the model." }),
  resident_bytes: t.Integer({ description: "Memory of the engine process; 0 without one." }),
});

const UpstreamHealth = t.Object({
  name: t.String(),
  state: oneOf("up", "down"),
  replicas: t.Integer(),
  down: t.Array(t.String(), { description: "The URLs of the replicas that are down, or do not accept svc's key." }),
  slow: t.Array(t.String(), {
    description: "The URLs of those where requests wait and from which nothing has come for long.",
  }),
});

/** Fields that every caller sees. */
const everybody = {
  status: oneOf("healthy", "loading", "degraded"),
  timestamp: t.Number({ description: "Unix time in seconds, with fractions." }),
  version: t.String({ description: "Version of this build." }),
};

export const Health = t.Object({
  ...everybody,
  engine: t.Object(engine),
  model: t.String(),
  engines: t.Array(EngineHealth, {
    description:
      "Every engine of this server, the one above included. One that is unloaded starts with its next request.",
  }),
  upstreams: t.Array(UpstreamHealth, {
    description: "Upstreams whose models are served. One is `down` when all of its replicas are that are not drained.",
  }),
});

/** The answer on a server with API keys when the request has none. */
export const OpenHealth = t.Object(everybody);

export type OpenHealth = Static<typeof OpenHealth>;
export type Health = Static<typeof Health>;
