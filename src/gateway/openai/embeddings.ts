// Requests vectors from the OpenAI-compatible POST /v1/embeddings.

import type { EmbeddingInput, EmbedWork } from "../../domain/embedding.ts";
import { count, fields, objects } from "../fields.ts";
import { traitsOf, type ServerKind } from "../server-kind.ts";
import { carryForeign } from "../unsupported.ts";
import type { UpstreamCall } from "./encode-request.ts";

/** An upstream's result: a vector for each input. */
export interface UpstreamVectors {
  readonly vectors: readonly unknown[];
  readonly tokens: number;
}

/** Returns the call. Throws SvcError about fields that the server lacks. `model`: the server's name for the model. */
export function encodeEmbeddings(work: EmbedWork, model: string, kind: ServerKind): UpstreamCall {
  const { inputs, dimensions, refuseLong } = work;
  return {
    path: "/v1/embeddings",
    body: {
      model,
      input: inputOf(inputs),
      encoding_format: "float",
      ...(dimensions !== undefined && { dimensions }),
      // OpenAI, vLLM, SGLang and llama.cpp have no such field and refuse texts that are too long by default.
      ...(refuseLong !== undefined && kind === "svc" && { truncate: false }),
      ...carryForeign(work, kind, traitsOf(kind).foreignOfVectors),
    },
  };
}

/** A single text is sent without a list, because not every server takes lists. */
const inputOf = (inputs: readonly EmbeddingInput[]) =>
  inputs.length === 1 && typeof inputs[0] === "string" ? inputs[0] : inputs;

/** Returns the vectors of an answer. Never throws: the caller must check the vectors. */
export function decodeEmbeddings(body: unknown): UpstreamVectors {
  const { data, usage } = fields(body);
  const vectors: unknown[] = [];
  for (const [at, entry] of objects(data).entries()) {
    const { index, embedding } = entry;
    vectors[typeof index === "number" ? index : at] = embedding;
  }
  return { vectors, tokens: count(fields(usage)["prompt_tokens"]) };
}
