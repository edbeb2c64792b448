// Decodes requests of /v1/embeddings and /v1/rerank into work for an embedding engine.

import { EmbeddingsRequest, MOST_INPUTS, RerankRequest } from "../../contract/embeddings.ts";
import { checker } from "../../contract/schema.ts";
import type { EmbeddingInput, EmbedWork } from "../../domain/embedding.ts";
import { fieldError, invalidValue } from "../../domain/errors.ts";
import {
  decodeForeign,
  EMBEDDING_FOREIGN,
  EMBEDDING_PEER_UNSUPPORTED,
  RERANK_PEER_UNSUPPORTED,
} from "../fields/peer-fields.ts";
import { refuseUnsupported } from "../fields/unsupported.ts";

interface DecodedEmbeddings extends Omit<EmbedWork, "kind"> {
  readonly model?: string;
  readonly base64: boolean;
}

export interface DecodedRerank {
  readonly model?: string;
  readonly query: string;
  readonly documents: readonly string[];
  readonly topN: number;
  readonly returnDocuments: boolean;
  /** Whether the documents came as `texts`, whose answer has a form of its own. */
  readonly plain: boolean;
  /** Whether scores are as the model outputs them instead of from 0 to 1. */
  readonly raw: boolean;
  /** The field whose texts are refused when they are too long; absent: they are truncated. */
  readonly refuseLong?: string;
}

const checkEmbeddings = checker(EmbeddingsRequest);
const checkRerank = checker(RerankRequest);
/** Fields of text-embeddings-inference and vLLM. */
const RERANK_UNSUPPORTED = {
  ...RERANK_PEER_UNSUPPORTED,
  truncation_direction: (value: unknown) => value !== "right" && value !== "Right",
};

/** Decodes a request for embeddings. Throws SvcError naming the invalid field. */
export function decodeEmbeddings(raw: unknown): DecodedEmbeddings {
  const body = checkEmbeddings(raw);
  const { input, model } = body;
  const dimensions = body.dimensions ?? body.output_dimension;
  refuseUnsupported(body, EMBEDDING_PEER_UNSUPPORTED);
  const inputs = isSeveral(input) ? input : [input];
  inputs.forEach((one, at) => refuseBlank(one, inputs.length === 1 && inputs[0] === input ? "input" : `input.${at}`));
  return {
    inputs,
    base64: (body.encoding_format ?? body.embedding_type) === "base64",
    ...(model && { model }),
    ...(refusesLong(body) && { refuseLong: "input" }),
    ...(typeof dimensions === "number" && { dimensions }),
    ...decodeForeign(body, EMBEDDING_FOREIGN),
  };
}

/** Decodes a request for a ranking. Throws SvcError naming the invalid field. */
export function decodeRerank(raw: unknown): DecodedRerank {
  const body = checkRerank(raw);
  const { query, documents: named, texts, model, return_documents, return_text } = body;
  refuseUnsupported(body, RERANK_UNSUPPORTED);
  const given = named ?? texts;
  if (!given) {
    const sentence = `is required: an array of 1 to ${MOST_INPUTS} texts ('texts' is another name for it)`;
    throw fieldError("missing_required_parameter", "documents", sentence);
  }
  refuseBlank(query, "query");
  return {
    query,
    documents: given.map((document) => (typeof document === "string" ? document : document.text)),
    topN: Math.min(body.top_n ?? body.top_k ?? given.length, given.length),
    returnDocuments: return_documents === true || return_text === true,
    plain: !named,
    raw: body.raw_scores ?? named != null,
    ...(refusesLong(body) && { refuseLong: named ? "documents" : "texts" }),
    ...(model && { model }),
  };
}

function refusesLong({ truncate, truncation }: Pick<EmbeddingsRequest, "truncate" | "truncation">): boolean {
  const given = truncate ?? truncation;
  return given === false || given === "NONE";
}

/** Returns whether there are several texts or several arrays of ids; a single array of ids is one input. */
function isSeveral(input: EmbeddingsRequest["input"]): input is string[] | number[][] {
  return Array.isArray(input) && typeof input[0] !== "number";
}

/** Throws SvcError about blank text: its vector would only be that of the special tokens around it. */
function refuseBlank(input: EmbeddingInput, param: string): void {
  if (typeof input !== "string" || /\S/.test(input)) return;
  throw invalidValue(param, "not be blank", `a string of length ${input.length} without any visible character`);
}
