// POST /v1/messages and POST /v1/messages/count_tokens

import { Elysia } from "elysia";
import {
  CountMessageTokensRequest,
  CountMessageTokensResponse,
  MessagesRequest,
  MessagesResponse,
} from "../../contract/messages.ts";
import { decodeMessages, decodeMessagesPrompt } from "../../dialect/messages/decode.ts";
import { messageWriter, PING } from "../../dialect/messages/encode-stream.ts";
import { encodeMessage } from "../../dialect/messages/encode.ts";
import { newMessageId } from "../../domain/ids.ts";
import type { AppDeps } from "../deps.ts";
import { readGenerationBody } from "../generation-body.ts";
import { respond } from "../generation-response.ts";
import { countTokens } from "../tokenize.ts";
import { bodyCeilings } from "../json-body.ts";
import { jsonRoute } from "../json-content.ts";

/** The Anthropic-compatible Messages API: answers a conversation, or counts its tokens. */
export const messagesRoutes = (deps: AppDeps) =>
  new Elysia({ name: "route.messages" })
    .post(
      "/v1/messages",
      async ({ request }) => {
        const call = decodeMessages(await readGenerationBody(deps, request), deps.settings);
        const { showThinking, promptAlone, stopSequences } = call;
        const answer = {
          id: newMessageId(),
          model: deps.router.find(call.request.model, "chat").model,
          showThinking,
          promptAlone,
          stopSequences,
        };
        return respond(deps, request, {
          requests: [call.request],
          stream: call.stream,
          json: (events, { readInputs }) => encodeMessage(events, { ...answer, readInputs }),
          writer: (put, accepted) => messageWriter(put, answer, accepted),
          framing: { heartbeat: PING },
        });
      },
      jsonRoute(MessagesRequest, MessagesResponse),
    )
    .post(
      "/v1/messages/count_tokens",
      async ({ request }) => {
        const prompt = decodeMessagesPrompt(await deps.bodies.read(request, bodyCeilings.generation), deps.settings);
        const { model } = deps.router.find(prompt.model, "chat");
        const tokens = await countTokens(deps, request, prompt);
        return Response.json({ input_tokens: tokens, model });
      },
      jsonRoute(CountMessageTokensRequest, CountMessageTokensResponse),
    );
