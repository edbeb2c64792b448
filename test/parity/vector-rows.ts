// The requests for embedding models and rerankers: each row is one request to a small random model of its kind.

import { ENCODER_CONTEXT, type EncoderKind } from "../models/make-encoder.ts";
import type { Fields } from "./matrix.ts";

export interface VectorRow {
  readonly name: string;
  readonly model: EncoderKind;
  readonly fields: Fields;
  /** Fields for llama-server instead of `fields`. */
  readonly theirs?: Fields;
  /** Why the answers may differ: a decision, not a bug. */
  readonly onPurpose?: string;
}

/** Returns this many words; the limit is what special tokens leave in the context. */
const words = (count: number) => Array.from({ length: count }, (_, at) => (at % 3 === 0 ? "sky" : "moon")).join(" ");
const FITS = words(ENCODER_CONTEXT - 2);
/** Tokenized, this would exceed the context. */
const ENDLESS = "blue".repeat(101);
const TOO_LONG = `${FITS} river`;

const TEXTS = [
  "the sky is blue",
  "a",
  "The Song of the River, and the Moon!?",
  "  what\tcolour\n\nis the sun?  ",
  "unknown words: quixotic zephyrs",
  "Grüße, naïve cafe\u0301 ấ 世界 👋",
  "[SEP] the sky [MASK] is <|im_end|> blue [CLS]",
  words(14),
];
const DOCUMENTS = [
  "the sky is blue",
  "green grass",
  "the sun, the moon and the stars of the sky.",
  "[SEP] <|im_end|>",
  "世界 café",
];
const QUERY = "what colour is the sky?";

const CUTS = "svc cuts inputs that are too long and says how many in X-Embedding-Truncated; llama-server refuses them";

const POOLINGS = ["mean", "cls", "causal-last", "causal-mean"] as const satisfies EncoderKind[];

const vectors = (model: EncoderKind): VectorRow[] => [
  { name: `${model}, texts`, model, fields: { input: TEXTS } },
  { name: `${model}, a text`, model, fields: { input: TEXTS[2] } },
  { name: `${model}, token ids`, model, fields: { input: [[2, 5, 6, 7, 3], [9]] } },
  { name: `${model}, base64`, model, fields: { input: TEXTS, encoding_format: "base64" } },
];

const scores = (model: EncoderKind): VectorRow[] => [
  { name: `${model}, documents`, model, fields: { query: QUERY, documents: DOCUMENTS } },
  { name: `${model}, top_n 2`, model, fields: { query: QUERY, documents: DOCUMENTS, top_n: 2 } },
];

export const VECTOR_ROWS: readonly VectorRow[] = [
  ...POOLINGS.flatMap(vectors),
  { name: "mean, a text of all the context", model: "mean", fields: { input: FITS } },
  {
    name: "mean, a text that is cut, against what is left of it",
    model: "mean",
    fields: { input: TOO_LONG },
    theirs: { input: FITS },
  },
  { name: "mean, a text that is too long", model: "mean", fields: { input: TOO_LONG }, onPurpose: CUTS },
  {
    name: "mean, dimensions",
    model: "mean",
    fields: { input: "the sky is blue", dimensions: 16 },
    onPurpose: "svc cuts vectors to `dimensions` and brings them back to length 1; llama-server ignores the field",
  },
  {
    name: "mean, a word of 101 letters, against an unknown one",
    model: "mean",
    fields: { input: `the ${ENDLESS}` },
    theirs: { input: "the [UNK]" },
  },
  {
    name: "mean, a word of 101 letters",
    model: "mean",
    fields: { input: `the ${ENDLESS.slice(0, 101)}` },
    onPurpose: "a word of more than 100 letters is unknown to svc, as to BERT's tokenizer; llama-server takes it apart",
  },
  {
    name: "mean, a blank text",
    model: "mean",
    fields: { input: " " },
    onPurpose: "svc refuses blank inputs; llama-server gives the vector of the special tokens around nothing",
  },
  {
    name: "unsaid, texts",
    model: "unsaid",
    fields: { input: TEXTS },
    onPurpose: "svc takes the mean where the file says nothing of pooling; llama-server refuses until it is told one",
  },
  ...scores("rank-eos"),
  ...scores("causal-rank"),
  {
    name: "rank, documents",
    model: "rank",
    fields: { query: QUERY, documents: DOCUMENTS },
    onPurpose:
      "where the file says nothing of the tokens around a pair, svc ends it with the separator, as BERT's tokenizer does; llama-server leaves that out",
  },
  {
    name: "rank-eos, a document that is too long",
    model: "rank-eos",
    fields: { query: QUERY, documents: [TOO_LONG, "green grass"] },
    onPurpose: CUTS,
  },
  {
    name: "rank-eos, texts",
    model: "rank-eos",
    fields: { query: QUERY, texts: DOCUMENTS },
    onPurpose: "to svc `texts` is another name for `documents`; llama-server answers it in another shape, a bare array",
  },
  {
    name: "causal-rank, a placeholder in the query",
    model: "causal-rank",
    fields: { query: "the {document}", documents: ["moon"] },
    onPurpose: "svc leaves the query as it is; llama-server puts the document into it as well",
  },
];
