// Ollama's API for embeddings: POST /api/embed, and its older form, /api/embeddings.

import { keepAlive } from "./ollama.ts";
import { JsonObject, opt, t, type Static } from "./schema.ts";

const MOST_INPUTS = 2048;
const Text = t.String({ minLength: 1 });
const common = {
  model: opt(t.String({ description: "An embedding model of the list of models; default: the first of them." })),
  options: opt(JsonObject),
  keep_alive: keepAlive,
};

export const OllamaEmbedRequest = t.Object({
  input: t.Union([t.String(), t.Array(Text, { maxItems: MOST_INPUTS })], { description: "Nothing has no vectors." }),
  truncate: opt(t.Boolean({ description: "false: an input that is too long is an error. Default true." })),
  dimensions: opt(t.Integer({ minimum: 1, description: "Numbers that are kept of each vector, from its front." })),
  ...common,
});

export const OllamaEmbeddingsRequest = t.Object({
  prompt: t.String({ description: "Nothing has no vector." }),
  ...common,
});

export const OllamaEmbedAnswer = t.Object({
  model: t.String(),
  embeddings: t.Array(t.Array(t.Number())),
  total_duration: t.Integer({ description: "Nanoseconds." }),
  load_duration: t.Integer(),
  prompt_eval_count: t.Integer({ description: "Tokens that were computed." }),
});

export const OllamaEmbeddingsAnswer = t.Object({ embedding: t.Array(t.Number()) });

export type OllamaEmbedAnswer = Static<typeof OllamaEmbedAnswer>;
export type OllamaEmbeddingsAnswer = Static<typeof OllamaEmbeddingsAnswer>;
