// Embeddings and reranking, as the API description tells them.

import { badRequest, tooLarge, type Operations } from "./operation.ts";

const headers = {
  "X-Embedding-Truncated": "How many inputs were longer than the model takes and were cut; absent when none was.",
};

const UNAVAILABLE =
  "`server_busy`: too many requests wait already. `engine_unavailable`: the model is loading for too long or cannot be loaded.";
const RETRY = "Retry-After tells in whole seconds when to try again.";

const errors = (kind: string) => ({
  400: badRequest,
  404: `\`model_not_found\`: no ${kind} of this name is served, or none at all.`,
  413: tooLarge("1 MB"),
  500: "`engine_crashed`: the engine process ended while it computed this request; the next one starts another.",
  503: `${UNAVAILABLE} ${RETRY}`,
});

export const embeddingsOperations: Operations = {
  "POST /v1/embeddings": {
    tag: "Embeddings",
    summary: "Texts as vectors",
    description:
      "The model is loaded by the first request that needs it. `model` may be one of another server, as `name/model` or, where no model here has it, by its bare name: its vectors come as that server gives them, dimensions is passed on, and vectors that come back longer are cut here. Vectors that are computed here have length 1 and are pooled as the model file says (mean, first or last token; mean where it says nothing). Inputs longer than the model takes are cut at their end, and the answer's header says how many were. Token ids are taken as they are: a whole input in the model's own vocabulary. With `dimensions` vectors are cut to their front and brought back to length 1; more than the model has is an error.",
    answers: { 200: "A vector for each input." },
    errors: {
      ...errors("embedding model"),
      502: "`upstream_error`: the other server that has the model failed, or sent no vectors.",
      503: `${UNAVAILABLE} \`upstream_unavailable\`: the other server that has the model cannot be reached. ${RETRY}`,
      508: "`loop_detected`: another svc passed the request on, and its model is on yet another server.",
    },
    headers,
    example: { input: "The sky is blue." },
  },
  "POST /v1/rerank": {
    tag: "Embeddings",
    summary: "Documents by their relevance to a query",
    description:
      "Needs a reranker (--rerank-model). Each document is read together with the query; documents that are too long are cut. Scores are as the model gives them, mostly logits: they order documents and are no probabilities.",
    answers: { 200: "The documents by relevance." },
    errors: errors("reranker"),
    headers,
    example: { query: "What colour is the sky?", documents: ["Grass is green.", "The sky is blue."] },
  },
};
