// API description: the server itself.

import type { Operations } from "./operation.ts";

export const serverOperations: Operations = {
  "GET /": {
    summary: "Name and version, or the page to chat in",
    answers: { 200: "One line with the version; for browsers (`Accept: text/html`) the page to chat and watch in." },
  },
  "GET /health": {
    summary: "State of the server and its engines",
    description:
      "Also /v1/health. 200 in every state. `status`: healthy, loading (requests wait) or degraded (requests to an engine or to an upstream get 503). `engines` has an entry for every engine, loaded or not; `upstreams` names those that are down. Without one of the server's API keys, where it has any, only status, timestamp and version are returned.",
    answers: { 200: "The server runs." },
  },
  "GET /metrics": {
    summary: "Prometheus metrics",
    description: "Names follow vLLM behind the prefix `svc_`.",
    answers: { 200: "Prometheus text exposition, version 0.0.4." },
  },
  "GET /openapi.json": {
    summary: "This description",
    answers: { 200: "An OpenAPI 3.1 document." },
  },
  "GET /docs": {
    summary: "This description as a page",
    description: "Loads nothing from elsewhere; requests can be tried out on it.",
    answers: { 200: "An HTML page." },
  },
};
