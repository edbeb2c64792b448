// POST /v1/embeddings and POST /v1/rerank

import { oneOf, opt, optFlag, optInteger, optText, t, type Static } from "./schema.ts";
import { TokenIds } from "./token-ids.ts";

/** Most inputs, or documents, of one request. */
export const MOST_INPUTS = 2048;

const Text = t.String({ minLength: 1 });

/** Also the values of NVIDIA's and Cohere's APIs. */
const Truncate = t.Union([t.Boolean(), oneOf("NONE", "END")], {
  description: 'false or "NONE": texts that are too long are refused. Default true, "END": they are truncated.',
});
const Truncation = t.Boolean({ description: "Used in place of `truncate`, as in Voyage's API." });

export const EmbeddingsRequest = t.Object({
  input: t.Union(
    [
      Text,
      t.Array(Text, { minItems: 1, maxItems: MOST_INPUTS }),
      TokenIds,
      t.Array(TokenIds, { minItems: 1, maxItems: MOST_INPUTS }),
    ],
    {
      description: `A text, a list of token ids of the model's own vocabulary (a whole input, including special tokens), or up to ${MOST_INPUTS} of either. No text may be empty or blank.`,
    },
  ),
  model: optText("An embedding model of GET /v1/models; default: the first one."),
  encoding_format: opt(t.Union([oneOf("float", "base64")], { description: "Default float." })),
  dimensions: optInteger({ minimum: 1 }, "Truncate each vector to this many numbers; default: all."),
  truncate: opt(Truncate),
  truncation: opt(Truncation),
  output_dimension: optInteger({ minimum: 1 }, "Used in place of `dimensions`, as in Voyage's API."),
  embedding_type: opt(
    t.Union([oneOf("float", "base64")], { description: "Used in place of `encoding_format`, as in Jina's API." }),
  ),
  user: optText("Ignored."),
});

export type EmbeddingsRequest = Static<typeof EmbeddingsRequest>;

const InputUsage = t.Object({
  prompt_tokens: t.Integer({ description: "Tokens that were computed; truncated tokens do not count." }),
  total_tokens: t.Integer(),
});

export const EmbeddingList = t.Object({
  object: t.Literal("list"),
  data: t.Array(
    t.Object({
      object: t.Literal("embedding"),
      index: t.Integer({ description: "Position of the input, from 0." }),
      embedding: t.Union([t.Array(t.Number()), t.String()], {
        description:
          "The vector, normalized to length 1 if it was computed here. With base64: its numbers in little-endian single precision.",
      }),
    }),
  ),
  model: t.String(),
  usage: InputUsage,
});

export type EmbeddingList = Static<typeof EmbeddingList>;

/** A document as text, or as an object that holds the text; it may be empty. */
const Document = t.Union([t.String(), t.Object({ text: t.String() })]);

export const RerankRequest = t.Object({
  query: Text,
  documents: opt(t.Array(Document, { minItems: 1, maxItems: MOST_INPUTS })),
  texts: opt(
    t.Array(t.String(), {
      minItems: 1,
      maxItems: MOST_INPUTS,
      description: "Used in place of `documents`, as in text-embeddings-inference; the answer then also has its form.",
    }),
  ),
  model: optText("A reranker of GET /v1/models; default: the first one."),
  top_n: optInteger({ minimum: 1 }, "Number of the most relevant documents to return; default: all."),
  top_k: optInteger({ minimum: 1 }, "Used in place of `top_n`, as in Voyage's API."),
  return_documents: optFlag("Whether the results contain their documents; default false."),
  return_text: optFlag("With `texts`: whether the results contain their texts; default false."),
  raw_scores: optFlag(
    "true: the model's own scores, the default with `documents`. false: scores from 0 to 1, the default with `texts`.",
  ),
  truncate: opt(Truncate),
  truncation: opt(Truncation),
});

export const RerankList = t.Object({
  object: t.Literal("list"),
  model: t.String(),
  results: t.Array(
    t.Object({
      index: t.Integer({ description: "Position of the document in the request, from 0." }),
      relevance_score: t.Number({
        description: "The model's own score unless raw_scores is false; only the order is meaningful.",
      }),
      document: t.Optional(t.Object({ text: t.String() })),
    }),
    { description: "The most relevant first." },
  ),
  usage: InputUsage,
});

export type RerankList = Static<typeof RerankList>;

/** The answer to `texts`: a list in the form of text-embeddings-inference. */
export const RerankTexts = t.Array(
  t.Object({
    index: t.Integer({ description: "Position of the text in the request, from 0." }),
    score: t.Number(),
    text: t.Optional(t.String()),
  }),
  { description: "The most relevant first." },
);

export type RerankTexts = Static<typeof RerankTexts>;
