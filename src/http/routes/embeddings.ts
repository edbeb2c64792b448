// POST /v1/embeddings and POST /v1/rerank

import { Elysia } from "elysia";
import { EmbeddingList, EmbeddingsRequest, RerankList, RerankRequest, RerankTexts } from "../../contract/embeddings.ts";
import { t } from "../../contract/schema.ts";
import { decodeEmbeddings, decodeRerank } from "../../dialect/embeddings/decode.ts";
import { encodeEmbeddings, encodeRerank } from "../../dialect/embeddings/encode.ts";
import type { EmbeddingAnswer } from "../../service/embeddings.ts";
import type { AppDeps } from "../deps.ts";
import { requestOrigin } from "../generation-response.ts";
import { bodyCeilings } from "../json-body.ts";
import { jsonRoute } from "../json-content.ts";
import { jsonResponse } from "../json-response.ts";
import { truncationHeaders } from "../truncation-headers.ts";
import { servedByFields } from "../log-fields.ts";

/** Converts texts to vectors, and ranks documents by relevance. */
export const embeddingRoutes = (deps: AppDeps) => {
  const { bodies, embeddings } = deps;
  const answer = (request: Request, { recorded, result }: EmbeddingAnswer, body: object): Response => {
    const { tokens, truncated, servedBy } = result;
    const context = deps.contexts.of(request);
    context.logFields = () => ({
      model: recorded,
      ...servedByFields(servedBy),
      prompt: tokens,
      ...(truncated > 0 && { truncated }),
    });
    return jsonResponse(context, body, truncationHeaders(result));
  };

  return new Elysia({ name: "route.embeddings" })
    .post(
      "/v1/embeddings",
      async ({ request }) => {
        const call = decodeEmbeddings(await bodies.read(request, bodyCeilings.embeddings));
        const origin = requestOrigin(deps, request);
        const computed = await embeddings.embed(call.inputs, { ...call, origin }, request.signal);
        return answer(request, computed, await encodeEmbeddings(computed.result, computed.model, call.base64));
      },
      jsonRoute(EmbeddingsRequest, EmbeddingList),
    )
    .post(
      "/v1/rerank",
      async ({ request }) => {
        const call = decodeRerank(await bodies.read(request, bodyCeilings.embeddings));
        const origin = requestOrigin(deps, request);
        const computed = await embeddings.rank(call.query, call.documents, { ...call, origin }, request.signal);
        return answer(request, computed, encodeRerank(computed.result, computed.model, call));
      },
      jsonRoute(RerankRequest, t.Union([RerankList, RerankTexts])),
    );
};
