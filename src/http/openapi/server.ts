// The server itself, as the API description tells it.

import type { Operations } from "./operation.ts";

export const serverOperations: Operations = {
  "GET /": {
    tag: "Server",
    summary: "Is this svc",
    answers: { 200: "One line with the version.", 302: "To browsers: the page is /docs." },
  },
  "GET /health": {
    tag: "Server",
    summary: "Is the server up, and how is its engine",
    description:
      "200 while the process answers. `status`: healthy, loading (requests wait) or degraded (requests get 503).",
    answers: { 200: "The process answers." },
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
    description:
      "Complete without any script; a button loads an interactive reference from a content delivery network.",
    answers: { 200: "An HTML page." },
  },
};
