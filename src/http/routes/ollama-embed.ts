// Ollama's API for embeddings: POST /api/embed and POST /api/embeddings.

import { Elysia } from "elysia";
import {
  OllamaEmbedAnswer,
  OllamaEmbeddingsAnswer,
  OllamaEmbeddingsRequest,
  OllamaEmbedRequest,
} from "../../contract/ollama-embed.ts";
import {
  decodeEmbed,
  decodeOlderEmbed,
  encodeEmbed,
  encodeOlderEmbed,
  type DecodedEmbed,
} from "../../dialect/ollama/embed.ts";
import { beginJob } from "../begin-job.ts";
import type { AppDeps } from "../deps.ts";
import { bodyCeilings } from "../json-body.ts";
import { jsonRoute } from "../json-content.ts";
import { jsonResponse } from "../json-response.ts";
import { embeddingFields } from "../log-fields.ts";
import { truncationHeaders } from "../truncation-headers.ts";

/** Converts texts to vectors, for tools that support no other API. */
export const ollamaEmbedRoutes = (deps: AppDeps) => {
  const { bodies, embeddings, clock, router } = deps;
  const compute = async (request: Request, call: DecodedEmbed) => {
    const { origin, context, report } = beginJob(deps, request, embeddingFields);
    const started = clock.now();
    const { model, result } = await embeddings.embed(call.inputs, { ...call, origin }, request.signal, report);
    // The answer does not wait until the process has ended, and the model may be gone meanwhile.
    if (call.unloads) router.unload(model).catch(() => {});
    return { context, model, result, ms: clock.now() - started };
  };

  return new Elysia({ name: "route.ollama-embed" })
    .post(
      "/api/embed",
      async ({ request }) => {
        const call = decodeEmbed(await bodies.read(request, bodyCeilings.embeddings));
        const computed = await compute(request, call);
        const { context, result } = computed;
        return jsonResponse(context, await encodeEmbed(result, computed), truncationHeaders(result));
      },
      jsonRoute(OllamaEmbedRequest, OllamaEmbedAnswer),
    )
    .post(
      "/api/embeddings",
      async ({ request }) => {
        const call = decodeOlderEmbed(await bodies.read(request, bodyCeilings.embeddings));
        const { context, result } = await compute(request, call);
        return jsonResponse(context, encodeOlderEmbed(result), truncationHeaders(result));
      },
      jsonRoute(OllamaEmbeddingsRequest, OllamaEmbeddingsAnswer),
    );
};
