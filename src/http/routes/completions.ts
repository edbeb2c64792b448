// POST /v1/completions

import { Elysia } from "elysia";
import { Completion, CompletionRequest } from "../../contract/completions.ts";
import { DONE } from "../../dialect/stream/streamed.ts";
import { completionExchange } from "../chat-exchange.ts";
import type { AppDeps } from "../deps.ts";
import { readGenerationBody } from "../generation-body.ts";
import { respond } from "../generation-response.ts";
import { jsonRoute } from "../json-content.ts";

/** Raw text completions, as JSON or as a stream. */
export const completionRoutes = (deps: AppDeps) =>
  new Elysia({ name: "route.completions" }).post(
    "/v1/completions",
    async ({ request }) => {
      const exchange = completionExchange(deps, await readGenerationBody(deps, request));
      return respond(deps, request, { ...exchange, framing: { terminator: DONE } });
    },
    jsonRoute(CompletionRequest, Completion),
  );
