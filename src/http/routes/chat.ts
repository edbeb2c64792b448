// POST /v1/chat/completions, and counting its prompt's tokens

import { Elysia } from "elysia";
import { ChatCompletion, ChatCompletionRequest } from "../../contract/chat.ts";
import { CountResponseTokensResponse } from "../../contract/responses.ts";
import { decodeChat } from "../../dialect/chat/decode.ts";
import { decodeProfile } from "../../dialect/chat/profile.ts";
import { DONE } from "../../dialect/stream/streamed.ts";
import type { AppDeps } from "../deps.ts";
import { chatExchange } from "../chat-exchange.ts";
import { readGenerationBody } from "../generation-body.ts";
import { respond } from "../generation-response.ts";
import { countTokens } from "../tokenize.ts";
import { bodyCeilings } from "../json-body.ts";
import { jsonRoute } from "../json-content.ts";

/** Chat completions, as JSON or as a stream. */
export const chatRoutes = (deps: AppDeps) =>
  new Elysia({ name: "route.chat" })
    .post(
      "/v1/chat/completions",
      async ({ request }) => {
        const profile = decodeProfile(request.headers.get("x-svc-profile"));
        const body = await readGenerationBody(deps, request);
        const { request: generation, ...exchange } = chatExchange(deps, body, profile);
        return respond(deps, request, { requests: [generation], ...exchange, framing: { terminator: DONE } });
      },
      jsonRoute(ChatCompletionRequest, ChatCompletion),
    )
    .post(
      "/v1/chat/completions/input_tokens",
      async ({ request }) => {
        const { request: prompt } = decodeChat(await deps.bodies.read(request, bodyCeilings.generation), deps.settings);
        const tokens = await countTokens(deps, request, prompt);
        return Response.json({ object: "response.input_tokens", input_tokens: tokens });
      },
      jsonRoute(ChatCompletionRequest, CountResponseTokensResponse),
    );
