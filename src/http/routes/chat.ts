// POST /v1/chat/completions

import { Elysia } from "elysia";
import { ChatCompletion, ChatCompletionRequest } from "../../contract/chat.ts";
import { decodeProfile } from "../../dialect/chat/profile.ts";
import { DONE } from "../../dialect/stream/streamed.ts";
import type { AppDeps } from "../deps.ts";
import { chatExchange } from "../chat-exchange.ts";
import { readGenerationBody } from "../generation-body.ts";
import { respond } from "../generation-response.ts";
import { jsonRoute } from "../json-content.ts";
import type { RequestContexts } from "../request-context.ts";

/** Chat completions, as JSON or as a stream. */
export const chatRoutes = (deps: AppDeps, contexts: RequestContexts) =>
  new Elysia({ name: "route.chat" }).post(
    "/v1/chat/completions",
    async ({ request }) => {
      const profile = decodeProfile(request.headers.get("x-svc-profile"));
      const body = await readGenerationBody(deps, request);
      const { request: generation, ...exchange } = chatExchange(deps, body, profile);
      return respond(deps, contexts, request, { requests: [generation], ...exchange, framing: { terminator: DONE } });
    },
    jsonRoute(ChatCompletionRequest, ChatCompletion),
  );
