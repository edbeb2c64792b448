// Encodes vectors and scores as answers of /v1/embeddings and /v1/rerank.

import type { EmbeddingList, RerankList, RerankTexts } from "../../contract/embeddings.ts";
import type { EmbeddingResult } from "../../domain/embedding.ts";
import { fieldError } from "../../domain/errors.ts";
import type { DecodedRerank } from "./decode.ts";

const usageOf = ({ tokens }: EmbeddingResult) => ({ prompt_tokens: tokens, total_tokens: tokens });

/** Returns a list with a vector for each input, in the same order. */
export function encodeEmbeddings(result: EmbeddingResult, model: string, base64: boolean): EmbeddingList {
  const { values, dimensions } = result;
  const data = Array.from({ length: values.length / dimensions }, (_, index) => {
    const vector = values.subarray(index * dimensions, (index + 1) * dimensions);
    return { object: "embedding" as const, index, embedding: base64 ? toBase64(vector) : [...vector] };
  });
  return { object: "list", data, model, usage: usageOf(result) };
}

/** Returns the best documents, the most relevant first; documents with equal scores keep their order. */
export function encodeRerank(result: EmbeddingResult, model: string, asked: DecodedRerank): RerankList | RerankTexts {
  refuseTruncated(result, asked.truncate, asked.plain ? "texts" : "documents");
  const results = [...result.values]
    .map((relevance_score, index) => {
      const document = asked.returnDocuments && { document: { text: asked.documents[index] ?? "" } };
      return { index, relevance_score, ...document };
    })
    .sort((a, b) => b.relevance_score - a.relevance_score)
    .slice(0, asked.topN);
  if (!asked.plain) return { object: "list", model, results, usage: usageOf(result) };
  return results.map(({ index, relevance_score: score, document }) => ({
    index,
    score: asked.raw ? score : 1 / (1 + Math.exp(-score)),
    ...(document && { text: document.text }),
  }));
}

/** Throws SvcError `context_length_exceeded` when texts were truncated that must not be. */
export function refuseTruncated({ truncated }: EmbeddingResult, truncate: boolean, param: string): void {
  if (truncate || truncated === 0) return;
  const sentence = `has ${truncated} texts that are longer than the model takes; 'truncate' cuts them`;
  throw fieldError("context_length_exceeded", param, sentence);
}

function toBase64(vector: EmbeddingResult["values"]): string {
  const view = new DataView(new ArrayBuffer(vector.length * 4));
  vector.forEach((value, at) => view.setFloat32(at * 4, value, true));
  return new Uint8Array(view.buffer).toBase64();
}
