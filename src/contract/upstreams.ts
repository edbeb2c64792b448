// GET /upstreams, POST /upstreams/{name}/drain and POST /upstreams/{name}/resume

import { oneOf, optText, t, type Static } from "./schema.ts";

export const UpstreamReplica = t.Object({
  url: t.String(),
  kind: t.String({ description: "Kind of the server: `vllm`, `llama.cpp`, `svc`, …; `openai` for any other." }),
  state: t.Unsafe<"unknown" | "up" | "slow" | "refusing" | "down" | "draining" | "drained">({
    ...oneOf("unknown", "up", "slow", "refusing", "down", "draining", "drained"),
    description:
      "`unknown`: the replica has not listed its models yet. `slow`: requests wait at the replica, and nothing has come from it for 10 s and for four times its usual time to a first token; other replicas are preferred. `refusing`: it rejects svc's key when svc lists its models, or at requests; other replicas are preferred. `down`: it failed several times in a row, and is tried again after `retry_ms`. `draining`: it gets no new requests, and some are still running. `drained`: it gets no new requests, and none is running.",
  }),
  last_error: t.Optional(
    t.String({ description: "Why the replica is down, does not list its models or refuses svc's key." }),
  ),
  retry_ms: t.Optional(t.Number({ description: "While the replica is down: milliseconds until it is tried again." })),
  models: t.Array(t.String(), { description: "The names of its models on the replica." }),
  running: t.Integer({ description: "Running requests." }),
  requests: t.Integer({ description: "Requests sent to the replica, including retries." }),
  retries: t.Integer({ description: "Requests among them that had failed before, at this or another replica." }),
  hedges: t.Integer({
    description: "Requests among them that were sent because another replica was silent for longer than usual.",
  }),
  failures: t.Record(t.String(), t.Integer(), { description: "Requests that failed at the replica, by error code." }),
  outages: t.Integer({ description: "How often the replica went down." }),
  affinity_hits: t.Integer({ description: "Requests whose prefix is assigned to this replica." }),
  affinity_misses: t.Integer({
    description: "Requests that came here because the replica of their prefix was busy, down or draining.",
  }),
  prompt_tokens: t.Integer({ description: "Prompt tokens of finished requests." }),
  cached_tokens: t.Integer({ description: "Prompt tokens that the replica reported as cached." }),
  completion_tokens: t.Integer(),
  first_token_ms: t.Optional(
    t.Object(
      { median: t.Number(), p99: t.Number() },
      { description: "Milliseconds from sending a request to its first text, over the last 256 requests." },
    ),
  ),
});

export const Upstream = t.Object({
  object: t.Literal("upstream"),
  name: t.String(),
  configured: t.Boolean({ description: "true: set by the operator; false: discovered on this machine." }),
  replicas: t.Array(UpstreamReplica),
});

export const UpstreamList = t.Object({ object: t.Literal("list"), data: t.Array(Upstream) });

/** The body is optional; the query may have the same field. */
export const DrainRequest = t.Object({
  replica: optText("The `url` of one replica; default: all replicas."),
});

export type UpstreamReplica = Static<typeof UpstreamReplica>;
export type Upstream = Static<typeof Upstream>;
export type UpstreamList = Static<typeof UpstreamList>;
