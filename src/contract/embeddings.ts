// POST /v1/embeddings and POST /v1/rerank

import { oneOf, opt, t, type Static } from "./schema.ts";
import { TokenIds } from "./token-ids.ts";

/** Most inputs, or documents, of one request. */
const MOST_INPUTS = 2048;

const Text = t.String({ minLength: 1 });

export const EmbeddingsRequest = t.Object({
  input: t.Union(
    [
      Text,
      t.Array(Text, { minItems: 1, maxItems: MOST_INPUTS }),
      TokenIds,
      t.Array(TokenIds, { minItems: 1, maxItems: MOST_INPUTS }),
    ],
    {
      description:
        "A text, token ids of the model's own vocabulary (a whole input, special tokens included), or up to 2048 of either. No text may be empty or blank.",
    },
  ),
  model: opt(t.String({ description: "An embedding model of the list of models; default: the first of them." })),
  encoding_format: opt(oneOf("float", "base64")),
  dimensions: opt(t.Integer({ minimum: 1, description: "Numbers that are kept of each vector, from its front." })),
  user: opt(t.String({ description: "Ignored." })),
});

export type EmbeddingsRequest = Static<typeof EmbeddingsRequest>;

const InputUsage = t.Object({
  prompt_tokens: t.Integer({ description: "Tokens that were computed: what was cut off is not among them." }),
  total_tokens: t.Integer(),
});

export const EmbeddingList = t.Object({
  object: t.Literal("list"),
  data: t.Array(
    t.Object({
      object: t.Literal("embedding"),
      index: t.Integer({ description: "Of the input." }),
      embedding: t.Union([t.Array(t.Number()), t.String()], {
        description:
          "A vector, of length 1 when it was computed here; in base64 its little-endian single-precision numbers.",
      }),
    }),
  ),
  model: t.String(),
  usage: InputUsage,
});

export type EmbeddingList = Static<typeof EmbeddingList>;

/** A document as text, or as an object that holds the text. */
const Document = t.Union([Text, t.Object({ text: Text })]);

export const RerankRequest = t.Object({
  query: Text,
  documents: opt(t.Array(Document, { minItems: 1, maxItems: MOST_INPUTS })),
  texts: opt(
    t.Array(Text, {
      minItems: 1,
      maxItems: MOST_INPUTS,
      description: "In place of `documents`, as text-embeddings-inference has it; the answer then has its form, too.",
    }),
  ),
  model: opt(t.String({ description: "A reranker of the list of models; default: the first of them." })),
  top_n: opt(t.Integer({ minimum: 1, description: "How many of the best are given; default all." })),
  return_documents: opt(t.Boolean({ description: "Whether the results have their documents." })),
  return_text: opt(t.Boolean({ description: "With `texts`: whether the results have their texts." })),
  raw_scores: opt(t.Boolean({ description: "With `texts`: scores as the model gives them. Default: from 0 to 1." })),
  truncate: opt(t.Boolean({ description: "false: what is too long is refused. Default: it is truncated." })),
});

export type RerankRequest = Static<typeof RerankRequest>;

export const RerankList = t.Object({
  object: t.Literal("list"),
  model: t.String(),
  results: t.Array(
    t.Object({
      index: t.Integer({ description: "Of the document." }),
      relevance_score: t.Number({ description: "As the model gives it: only its order means something." }),
      document: t.Optional(t.Object({ text: t.String() })),
    }),
    { description: "The most relevant first." },
  ),
  usage: InputUsage,
});

export type RerankList = Static<typeof RerankList>;

/** The answer to `texts`: a list in the form of text-embeddings-inference. */
export const RerankTexts = t.Array(
  t.Object({ index: t.Integer({ description: "Of the text." }), score: t.Number(), text: t.Optional(t.String()) }),
  { description: "The most relevant first." },
);

export type RerankTexts = Static<typeof RerankTexts>;
