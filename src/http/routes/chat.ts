// POST /v1/chat/completions

import { Elysia } from "elysia";
import { ChatCompletion, ChatCompletionRequest } from "../../contract/chat.ts";
import { decodeChat } from "../../dialect/chat/decode.ts";
import { encodeChatStream } from "../../dialect/chat/encode-stream.ts";
import { encodeChat } from "../../dialect/chat/encode.ts";
import { decodeProfile } from "../../dialect/chat/profile.ts";
import { newChatCompletionId } from "../../domain/ids.ts";
import { answerOrigin } from "../answer-origin.ts";
import type { AppDeps } from "../app.ts";
import { respond } from "../generation-response.ts";
import { bodyCeilings, readJson } from "../json-body.ts";
import { jsonContent } from "../json-content.ts";
import type { RequestContexts } from "../request-context.ts";

/** Chat completions, as JSON or as a stream. */
export const chatRoutes = (deps: AppDeps, contexts: RequestContexts) =>
  new Elysia({ name: "route.chat" }).post(
    "/v1/chat/completions",
    async ({ request }) => {
      const profile = decodeProfile(request.headers.get("x-svc-profile"));
      const body = await readJson(request, bodyCeilings.generation);
      const { request: asked, stream, includeUsage } = decodeChat(body, deps.config);
      const { choices, topLogprobs } = asked;
      const answer = answerOrigin(deps, newChatCompletionId(), asked);
      return respond(deps, contexts, request, {
        requests: [profile ? { ...asked, profile: true } : asked],
        stream,
        json: (events) => encodeChat(events, answer, { choices, withLogprobs: topLogprobs !== undefined, profile }),
        frames: (events, context) => encodeChatStream(events, { answer, choices, includeUsage, profile, ...context }),
      });
    },
    {
      parse: "none",
      detail: { requestBody: jsonContent(ChatCompletionRequest), responses: { 200: jsonContent(ChatCompletion) } },
    },
  );
