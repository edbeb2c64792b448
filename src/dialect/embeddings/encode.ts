// Encodes vectors and scores as answers of /v1/embeddings and /v1/rerank.

import type { EmbeddingList, RerankList, RerankTexts } from "../../contract/embeddings.ts";
import type { EmbeddingResult } from "../../domain/embedding.ts";
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
  const results = [...result.values]
    .map((score, index) => {
      const relevance_score = asked.raw ? score : 1 / (1 + Math.exp(-score));
      const document = asked.returnDocuments && { document: { text: asked.documents[index] ?? "" } };
      return { index, relevance_score, ...document };
    })
    .sort((a, b) => b.relevance_score - a.relevance_score)
    .slice(0, asked.topN);
  if (!asked.plain) return { object: "list", model, results, usage: usageOf(result) };
  return results.map(({ index, relevance_score: score, document }) => ({
    index,
    score,
    ...(document && { text: document.text }),
  }));
}

function toBase64(vector: EmbeddingResult["values"]): string {
  const view = new DataView(new ArrayBuffer(vector.length * 4));
  vector.forEach((value, at) => view.setFloat32(at * 4, value, true));
  return new Uint8Array(view.buffer).toBase64();
}
