// Vectors by the convention's POST /v1/embeddings.

import type { EmbeddingInput, EmbedWork } from "../../domain/embedding.ts";
import { count, fields, objects } from "../fields.ts";
import { traitsOf, type ServerKind } from "../server-kind.ts";
import { carryForeign } from "../unsupported.ts";
import type { UpstreamCall } from "./encode-request.ts";

/** What another server computed: a vector for each input. */
export interface UpstreamVectors {
  readonly vectors: readonly unknown[];
  readonly tokens: number;
}

/** The body of the request. Throws SvcError about what the server cannot be told. `model`: its own name for the model. */
export function encodeEmbeddings(work: EmbedWork, model: string, kind: ServerKind): UpstreamCall {
  const { inputs, dimensions } = work;
  return {
    path: "/v1/embeddings",
    body: {
      model,
      input: inputOf(inputs),
      encoding_format: "float",
      ...(dimensions !== undefined && { dimensions }),
      ...carryForeign(work, kind, traitsOf(kind).foreignOfVectors),
    },
  };
}

/** A text by itself goes as one: not every server takes lists. */
const inputOf = (inputs: readonly EmbeddingInput[]) =>
  inputs.length === 1 && typeof inputs[0] === "string" ? inputs[0] : inputs;

/** Never throws: whether the vectors are any is the caller's to check. */
export function decodeEmbeddings(body: unknown): UpstreamVectors {
  const { data, usage } = fields(body);
  const vectors: unknown[] = [];
  for (const [at, entry] of objects(data).entries()) {
    const { index, embedding } = entry;
    vectors[typeof index === "number" ? index : at] = embedding;
  }
  return { vectors, tokens: count(fields(usage)["prompt_tokens"]) };
}
