// API description: embeddings and reranking.

import { badRequest, jobErrors, tooLarge, type Operations } from "./operation.ts";

export const truncationHeaders = {
  "X-Embedding-Truncated":
    "Number of inputs that were truncated because they exceed the model's context; absent if no input was truncated.",
};

/** Returns the errors of routes whose model of this kind computes vectors or ranks. `more`: as for `jobErrors`. */
const embeddingErrors = (kind: string, ...more: readonly string[]) => ({
  400: badRequest,
  ...jobErrors("loading the model", ...more),
  404: `\`model_not_found\`: no ${kind} with this name, or none at all, is served.`,
  413: tooLarge("8 MiB"),
});

/** Errors of routes that return vectors, whose model may be an upstream's. */
export const vectorErrors = {
  ...embeddingErrors("embedding model", "`upstream_unavailable`: the model's upstream cannot be reached."),
  502: "`upstream_error`: the model's upstream failed, or sent no vectors.",
  508: "`loop_detected`: another svc forwarded the request, and its model is on a third server.",
};

export const embeddingsOperations: Operations = {
  "POST /v1/embeddings": {
    summary: "Texts as vectors",
    description: `The model is loaded on first use, and unloaded after --idle-unload minutes without a request. POST
/v1/chat/completions/{id}/cancel with the correlation id cancels a request.

\`model\` may be an upstream's, as \`name/model\` or, if no model here has that name, by its bare name. The upstream's
vectors are passed through: dimensions is forwarded, and longer vectors are truncated here. Vectors that are computed
here have length 1 and are pooled as the model file says (mean, first or last token; default: mean). Inputs that exceed
the model's context are truncated at their end, and a header of the answer gives their number;
with \`truncate\` false they are refused. Token ids are used unchanged:
they must be a whole input in the model's own vocabulary. With \`dimensions\`, vectors are truncated to their first
values and normalized to length 1 again; more dimensions than the model has are an error.`,
    answers: { 200: "A vector for each input." },
    errors: vectorErrors,
    headers: truncationHeaders,
    queued: true,
    example: { input: "The sky is blue." },
  },
  "POST /v1/rerank": {
    summary: "Rank documents by their relevance to a query",
    description:
      "Needs a reranker (--rerank-model). Each document is scored together with the query; documents that are too long are truncated, or with truncate false refused. Scores are the model's own, mostly logits, unless raw_scores is false: they order the documents and are not probabilities. For documents in `texts`, the answer has the form of text-embeddings-inference: a list of index and score, from 0 to 1 unless raw_scores is true. POST /v2/rerank, of Cohere's clients, is the same.",
    answers: { 200: "The documents by relevance." },
    errors: embeddingErrors("reranker"),
    headers: truncationHeaders,
    queued: true,
    example: { query: "What colour is the sky?", documents: ["Grass is green.", "The sky is blue."] },
  },
};
