// Vectors by the convention's POST /v1/embeddings.

import type { EmbeddingInput, EmbedWork } from "../../domain/embedding.ts";
import { count, fields, objects } from "../fields.ts";
import type { UpstreamCall } from "./encode-request.ts";

/** What another server computed: a vector for each input. */
export interface UpstreamVectors {
  readonly vectors: readonly unknown[];
  readonly tokens: number;
}

/** The body of the request. `model`: the server's own name for it. */
export const encodeEmbeddings = ({ inputs, dimensions }: EmbedWork, model: string): UpstreamCall => ({
  path: "/v1/embeddings",
  body: { model, input: inputOf(inputs), encoding_format: "float", ...(dimensions !== undefined && { dimensions }) },
});

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
