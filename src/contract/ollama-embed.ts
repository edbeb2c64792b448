// Ollama's API for embeddings: POST /api/embed, and its older form, /api/embeddings.

import { JsonObject, opt, optFlag, optInteger, optText, t, type Static } from "./schema.ts";

/** More than on /v1/embeddings: clients of this API send all of their texts in one request. */
const MOST_INPUTS = 16_384;
const common = {
  model: optText("An embedding model of GET /v1/models; default: the first one."),
  options: opt(JsonObject),
  keep_alive: opt(
    t.Union([t.Number(), t.String()], {
      description: "0 unloads the model after the answer, unless it is working; others have no effect.",
    }),
  ),
};

export const OllamaEmbedRequest = t.Object({
  input: t.Union([t.String(), t.Array(t.String(), { maxItems: MOST_INPUTS })], {
    description: `A text or a list of up to ${MOST_INPUTS} texts; an empty text or list is answered without vectors.`,
  }),
  truncate: optFlag("false: inputs that are too long are refused. Default true: they are truncated."),
  dimensions: optInteger({ minimum: 1 }, "Truncate each vector to this many numbers; default: all."),
  ...common,
});

export const OllamaEmbeddingsRequest = t.Object({
  prompt: t.String({ description: "The text; an empty text is answered with an empty vector." }),
  ...common,
});

export const OllamaEmbedAnswer = t.Object({
  model: t.String(),
  embeddings: t.Array(t.Array(t.Number())),
  total_duration: t.Integer({ description: "Nanoseconds." }),
  load_duration: t.Integer(),
  prompt_eval_count: t.Integer({ description: "Number of tokens that were computed." }),
});

export const OllamaEmbeddingsAnswer = t.Object({ embedding: t.Array(t.Number()) });

export type OllamaEmbedAnswer = Static<typeof OllamaEmbedAnswer>;
export type OllamaEmbeddingsAnswer = Static<typeof OllamaEmbeddingsAnswer>;
