// API description: the server itself.

import type { Operations } from "./operation.ts";

export const serverOperations: Operations = {
  "GET /": {
    summary: "Name and version, or the chat page",
    answers: {
      200: "One line with the version; for browsers (`Accept: text/html`) the page for chatting and monitoring.",
    },
  },
  "GET /health": {
    summary: "State of the server and its engines",
    description:
      "Also at /v1/health. The status is 200 in every state. `status`: healthy, loading (requests wait) or degraded (requests to an engine or to an upstream get 503, or the last attempt to load an engine failed). `engines` has an entry for every engine, loaded or not; `upstreams` names those that are down or drained. On a server with API keys, a request without one gets only status, timestamp and version.",
    answers: { 200: "The server is running." },
  },
  "GET /metrics": {
    summary: "Prometheus metrics",
    description: "Names follow those of vLLM, with the prefix `svc_`.",
    answers: { 200: "Prometheus text exposition, version 0.0.4." },
  },
  "GET /openapi.json": {
    summary: "This description",
    answers: { 200: "An OpenAPI 3.1 document." },
  },
  "GET /docs": {
    summary: "This description as a page",
    description: "The page loads nothing from other hosts; requests can be tried out on it.",
    answers: { 200: "An HTML page." },
  },
};
