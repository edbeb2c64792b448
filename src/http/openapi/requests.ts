// API description: running and ended requests.

import type { Operations } from "./operation.ts";

export const requestsOperations: Operations = {
  "GET /v1/requests": {
    summary: "List running requests and the last requests that ended",
    description:
      "Counts and times, but no text, of every admitted request of any route; of ended requests only the last hundred. On a server with API keys, only the requests of the caller's key are listed. On a server without API keys, all are listed, but `id`, by which a request is cancelled (`POST /v1/chat/completions/{id}/cancel`), is only given if the server listens on a loopback address and was addressed by one, and not to web pages of --cors-origin.",
    answers: { 200: "The requests." },
  },
};
