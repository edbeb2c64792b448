// API description: running and ended requests.

import type { Operations } from "./operation.ts";

export const requestsOperations: Operations = {
  "GET /v1/requests": {
    summary: "Running requests, and the last ones that ended",
    description:
      "Counts and times of every request that was admitted, whatever its route, and nothing of its text; of those that ended, the last hundred. With one of the server's API keys, the requests of that key. Without keys, all; `id`, by which a request is cancelled (`POST /v1/chat/completions/{id}/cancel`), is then given on a loopback address alone.",
    answers: { 200: "The requests." },
  },
};
