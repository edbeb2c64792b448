// Ollama's API for the models on disk: POST /api/pull and DELETE /api/delete.

import { Elysia } from "elysia";
import { OllamaDeleteRequest, OllamaPullRequest, OllamaPullStatus } from "../../contract/ollama-store.ts";
import { decodeDelete, decodePull, encodePull, pullWriter } from "../../dialect/ollama/store.ts";
import type { AppDeps } from "../deps.ts";
import { streamResponse } from "../generation-response.ts";
import { bodyCeilings } from "../json-body.ts";
import { hooksOf, jsonContent, typedContent } from "../json-content.ts";
import { checkLocal } from "../plugins/origin.ts";

/** One status, or a line for each. */
const statusContent = typedContent(["application/json", "application/x-ndjson"], OllamaPullStatus);

/** Only for callers on this machine, with or without an API key: these routes fill and empty disks. */
export const ollamaStoreRoutes = (deps: AppDeps) =>
  new Elysia({ name: "route.ollama-store" })
    .post(
      "/api/pull",
      async ({ request }) => {
        checkLocal(request.headers, deps.config);
        const { model, stream } = decodePull(await deps.bodies.read(request, bodyCeilings.tokenizer));
        const events = deps.storedModels.download(model, deps.contexts.of(request).signal);
        if (!stream) return Response.json(await encodePull(events));
        return streamResponse(deps, request, events, pullWriter, { format: "ndjson" });
      },
      hooksOf(statusContent, jsonContent(OllamaPullRequest)),
    )
    .delete(
      "/api/delete",
      async ({ request }) => {
        checkLocal(request.headers, deps.config);
        const { model } = decodeDelete(await deps.bodies.read(request, bodyCeilings.tokenizer));
        await deps.storedModels.remove(model);
        return new Response();
      },
      hooksOf({ description: "" }, jsonContent(OllamaDeleteRequest)),
    );
