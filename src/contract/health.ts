// GET /health

import { oneOf, t, type Static } from "./schema.ts";

/** The state of an engine. */
const engine = {
  state: oneOf("none", "unloaded", "starting", "loading", "ready", "stalled", "draining", "stopped", "failed"),
  restarts: t.Integer({ description: "How often a new engine process was started because the previous one died." }),
  progress: t.Optional(t.Number({ description: "Loaded share of the model, 0 to 1." })),
  stalled_since: t.Optional(
    t.Number({
      description:
        "Unix time in seconds of the last sign of life from an engine process that makes no progress. If it is the only process, the engine is `stalled`: requests are refused until it recovers or is restarted.",
    }),
  ),
  last_error: t.Optional(t.String({ description: "How the engine process that died last ended." })),
  device: t.Optional(
    t.String({
      description:
        "Devices that compute the model, once it has been loaded: workers, GPUs, or the CPU with its threads. Absent for kinds of engines that always compute on the CPU, such as `speech`.",
    }),
  ),
};

const EngineHealth = t.Object({
  kind: t.String({
    description: "Kind of the engine: `text`, `embedding`, `transcription`, `speech`, `recognition`, `image`, …",
  }),
  model: t.String(),
  ...engine,
  running: t.Integer({ description: "Requests that are being computed." }),
  waiting: t.Integer({ description: "Requests that wait for their turn or for the model." }),
  resident_bytes: t.Integer({
    description: "Resident memory of the engine process in bytes; 0 if there is no process.",
  }),
});

const UpstreamHealth = t.Object({
  name: t.String(),
  state: oneOf("up", "down", "drained"),
  replicas: t.Integer(),
  down: t.Array(t.String(), { description: "URLs of the replicas that are down or do not accept svc's key." }),
  slow: t.Array(t.String(), {
    description: "URLs of the replicas where requests wait and from which nothing has come for a long time.",
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
      "Every engine of this server, including that of `engine`. An unloaded engine starts with its next request.",
  }),
  upstreams: t.Array(UpstreamHealth, {
    description:
      "Upstreams whose models are served. An upstream is `down` when all of its replicas are down, except those that are drained, and `drained` when all are.",
  }),
});

/** The answer on a server with API keys when the request has none. */
export const OpenHealth = t.Object(everybody);

export type OpenHealth = Static<typeof OpenHealth>;
export type Health = Static<typeof Health>;
