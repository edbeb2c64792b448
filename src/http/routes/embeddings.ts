// POST /v1/embeddings and POST /v1/rerank

import { Elysia } from "elysia";
import { EmbeddingList, EmbeddingsRequest, RerankList, RerankRequest, RerankTexts } from "../../contract/embeddings.ts";
import { t } from "../../contract/schema.ts";
import { decodeEmbeddings, decodeRerank } from "../../dialect/embeddings/decode.ts";
import { encodeEmbeddings, encodeRerank } from "../../dialect/embeddings/encode.ts";
import { beginJob } from "../begin-job.ts";
import type { AppDeps } from "../deps.ts";
import { bodyCeilings } from "../json-body.ts";
import { jsonRoute } from "../json-content.ts";
import { jsonResponse } from "../json-response.ts";
import { embeddingFields } from "../log-fields.ts";
import { truncationHeaders } from "../truncation-headers.ts";

/** Converts texts to vectors, and ranks documents by relevance. */
export const embeddingRoutes = (deps: AppDeps) => {
  const { bodies, embeddings } = deps;
  return new Elysia({ name: "route.embeddings" })
    .post(
      "/v1/embeddings",
      async ({ request }) => {
        const call = decodeEmbeddings(await bodies.read(request, bodyCeilings.embeddings));
        const { origin, context, report } = beginJob(deps, request, embeddingFields);
        const { result, model } = await embeddings.embed(call.inputs, { ...call, origin }, request.signal, report);
        return jsonResponse(context, await encodeEmbeddings(result, model, call.base64), truncationHeaders(result));
      },
      jsonRoute(EmbeddingsRequest, EmbeddingList),
    )
    .post(
      "/v1/rerank",
      async ({ request }) => {
        const call = decodeRerank(await bodies.read(request, bodyCeilings.embeddings));
        const { origin, context, report } = beginJob(deps, request, embeddingFields);
        const { query, documents } = call;
        const { result, model } = await embeddings.rank(query, documents, { ...call, origin }, request.signal, report);
        return jsonResponse(context, encodeRerank(result, model, call), truncationHeaders(result));
      },
      jsonRoute(RerankRequest, t.Union([RerankList, RerankTexts])),
    );
};
