// Encodes vectors and scores as answers of /v1/embeddings and /v1/rerank.

import type { EmbeddingList, RerankList, RerankTexts } from "../../contract/embeddings.ts";
import { vectorsOf, type EmbeddingResult } from "../../domain/embedding.ts";
import type { DecodedRerank } from "./decode.ts";

const usageOf = ({ tokens }: EmbeddingResult) => ({ prompt_tokens: tokens, total_tokens: tokens });

/** Returns a list with a vector for each input, in the same order. */
export async function encodeEmbeddings(
  result: EmbeddingResult,
  model: string,
  base64: boolean,
): Promise<EmbeddingList> {
  const data: EmbeddingList["data"] = [];
  for await (const vector of vectorsOf(result)) {
    data.push({ object: "embedding", index: data.length, embedding: base64 ? toBase64(vector) : [...vector] });
  }
  return { object: "list", data, model, usage: usageOf(result) };
}

/** Returns the best documents, the most relevant first; documents with equal scores keep their order. */
export function encodeRerank(result: EmbeddingResult, model: string, rerank: DecodedRerank): RerankList | RerankTexts {
  const isOwn = rerank.raw || result.probabilities === true;
  const results = [...result.values]
    .map((score, index) => {
      const relevance_score = isOwn ? score : 1 / (1 + Math.exp(-score));
      const document = rerank.returnDocuments && { document: { text: rerank.documents[index] ?? "" } };
      return { index, relevance_score, ...document };
    })
    .sort((a, b) => b.relevance_score - a.relevance_score)
    .slice(0, rerank.topN);
  if (!rerank.plain) return { object: "list", model, results, usage: usageOf(result) };
  return results.map(({ index, relevance_score: score, document }) => ({
    index,
    score,
    ...(document && { text: document.text }),
  }));
}

/** Clients expect little-endian numbers, which every machine that svc runs on has. */
const toBase64 = (vector: EmbeddingResult["values"]): string =>
  new Uint8Array(new Float32Array(vector).buffer).toBase64();
