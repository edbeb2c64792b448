// GET /upstreams, POST /upstreams/{name}/drain and POST /upstreams/{name}/resume

import { oneOf, opt, t, type Static } from "./schema.ts";

export const UpstreamReplica = t.Object({
  url: t.String(),
  kind: t.String({ description: "Which server it is: `vllm`, `llama.cpp`, `svc`, …; `openai` is any other." }),
  state: t.Unsafe<"unknown" | "up" | "slow" | "refusing" | "down" | "draining" | "drained">({
    ...oneOf("unknown", "up", "slow", "refusing", "down", "draining", "drained"),
    description:
      "`unknown`: it has not listed its models yet. `slow`: requests wait there, and nothing has come for 10 s and four times its usual time to a first token; others are preferred. `refusing`: it does not accept svc's key when its models are listed; others are preferred. `down`: it failed several times in a row, and is tried again after `retry_ms`. `draining`: it gets no new requests and still has some. `drained`: it has none any more.",
  }),
  last_error: t.Optional(t.String({ description: "Why it is down, or does not list its models." })),
  retry_ms: t.Optional(t.Number({ description: "Milliseconds until it is tried again, while it is down." })),
  models: t.Array(t.String(), { description: "The names that its models have there." }),
  running: t.Integer({ description: "Requests under way." }),
  requests: t.Integer({ description: "Requests sent to it, retries included." }),
  retries: t.Integer({ description: "Those of them that had failed before, here or at another replica." }),
  hedges: t.Integer({ description: "Those sent as another replica was silent for longer than usual." }),
  failures: t.Record(t.String(), t.Integer(), { description: "Requests that failed there, by the code of the error." }),
  outages: t.Integer({ description: "Times at which it went down." }),
  affinity_hits: t.Integer({ description: "Requests whose beginning belongs to this replica." }),
  affinity_misses: t.Integer({ description: "Requests that came as their own replica was busy, down or draining." }),
  prompt_tokens: t.Integer({ description: "Of finished requests." }),
  cached_tokens: t.Integer({ description: "Prompt tokens that it says came from its cache." }),
  completion_tokens: t.Integer(),
  first_token_ms: t.Optional(
    t.Object(
      { median: t.Number(), p99: t.Number() },
      { description: "Milliseconds from sending a request to the first text, over its last 256 requests." },
    ),
  ),
});

export const Upstream = t.Object({
  object: t.Literal("upstream"),
  name: t.String(),
  configured: t.Boolean({ description: "Named by the operator; false: found on this machine." }),
  replicas: t.Array(UpstreamReplica),
});

export const UpstreamList = t.Object({ object: t.Literal("list"), data: t.Array(Upstream) });

/** The body is optional; the query may have the same field. */
export const DrainRequest = t.Object({
  replica: opt(t.String({ description: "The `url` of one replica; absent: all of them." })),
});

export type UpstreamReplica = Static<typeof UpstreamReplica>;
export type Upstream = Static<typeof Upstream>;
export type UpstreamList = Static<typeof UpstreamList>;
