// API description: the server itself.

import type { Operations } from "./operation.ts";

export const serverOperations: Operations = {
  "GET /": {
    tag: "Server",
    summary: "Name and version",
    answers: { 200: "One line with the version.", 302: "For browsers: to the page /docs." },
  },
  "GET /health": {
    tag: "Server",
    summary: "State of the server and its engines",
    description:
      "200 in every state. `status`: healthy, loading (requests wait) or degraded (requests to an engine get 503). `engines` has an entry for every engine: text and embedding models, loaded or not. Without one of the server's API keys, where it has any, only status, timestamp and version are told.",
    answers: { 200: "The server runs." },
  },
  "GET /metrics": {
    tag: "Server",
    summary: "Prometheus metrics",
    description: "Names follow vLLM behind the prefix `svc_`.",
    answers: { 200: "Prometheus text exposition, version 0.0.4." },
  },
  "GET /openapi.json": {
    tag: "Server",
    summary: "This description",
    answers: { 200: "An OpenAPI 3.1 document." },
  },
  "GET /docs": {
    tag: "Server",
    summary: "This description as a page",
    description: "Works without scripts; a button loads an interactive reference from a content delivery network.",
    answers: { 200: "An HTML page." },
  },
};
