// API description: upstreams whose models are served.

import { badRequest, type Operation, type Operations } from "./operation.ts";

const steering = {
  tag: "Server",
  query: {
    replica: {
      description: "The same as in the body; if both are given, they must be equal.",
      schema: { type: "string" },
    },
  },
  answers: { 200: "The upstream as it is now." },
  errors: {
    400: badRequest,
    403: "`forbidden_host`: on a server without API keys, the server listens beyond loopback, or was addressed by a name of --allowed-host, or a web page of --cors-origin called.",
    404: "`not_found`: there is no upstream with this name, or it has no replica with this URL.",
  },
} as const satisfies Partial<Operation>;

export const upstreamsOperations: Operations = {
  "GET /upstreams": {
    summary: "List upstreams and their replicas",
    description: "State, requests, tokens, failures and times of every replica, since svc was started.",
    answers: { 200: "The upstreams: those of --upstream, then those that were discovered." },
  },
  "POST /upstreams/{name}/drain": {
    ...steering,
    summary: "Take an upstream out of service",
    description:
      "The upstream, or only the replica that `replica` names in the query or the body, gets no new requests; running requests finish. Its state is `drained` when `running` is 0, and stays so until it is resumed or svc is restarted.",
    example: { replica: "http://10.0.0.5:8000" },
  },
  "POST /upstreams/{name}/resume": {
    ...steering,
    summary: "Put an upstream back into service",
    example: {},
  },
};
