// Requests vectors from Ollama's POST /api/embed.

import type { EmbedWork } from "../../domain/embedding.ts";
import { count, fields } from "../fields.ts";
import type { UpstreamVectors } from "../openai/embeddings.ts";
import type { UpstreamCall } from "../openai/encode-request.ts";
import { cannotCarry, carryForeign } from "../unsupported.ts";

/** Throws SvcError about fields of other servers, and about token ids, because this API takes only texts. */
export function encodeEmbed(work: EmbedWork, model: string): UpstreamCall {
  const { inputs, dimensions, refuseLong } = work;
  carryForeign(work, "ollama");
  if (inputs.some((input) => typeof input !== "string")) throw cannotCarry("input", "ollama");
  const truncate = refuseLong === undefined ? {} : { truncate: false };
  return {
    path: "/api/embed",
    body: { model, input: inputs, ...(dimensions !== undefined && { dimensions }), ...truncate },
  };
}

/** Returns the vectors of an answer. Never throws: the caller must check the vectors. */
export function decodeEmbed(body: unknown): UpstreamVectors {
  const { embeddings, prompt_eval_count } = fields(body);
  return { vectors: Array.isArray(embeddings) ? embeddings : [], tokens: count(prompt_eval_count) };
}
