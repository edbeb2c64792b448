// /v1/conversations: creating, changing and deleting conversations that responses continue, and their items.

import { Elysia } from "elysia";
import {
  Conversation,
  ConversationItem,
  ConversationItemsRequest,
  ConversationRequest,
  ConversationUpdate,
  DeletedConversation,
} from "../../contract/conversations.ts";
import { InputItemList } from "../../contract/responses.ts";
import { decodePage, listOf } from "../../dialect/fields/page.ts";
import {
  decodeConversation,
  decodeConversationItems,
  decodeConversationUpdate,
  encodeConversation,
} from "../../dialect/responses/conversations.ts";
import { listItems } from "../../dialect/responses/items.ts";
import type { AppDeps } from "../deps.ts";
import { bodyCeilings } from "../json-body.ts";
import { jsonAnswer, jsonRoute } from "../json-content.ts";
import { jsonResponse } from "../json-response.ts";
import type { StoredResponses } from "../stored-responses.ts";

/** OpenAI's Conversations API; conversations are stored in memory, like responses. */
export const conversationRoutes = ({ bodies, contexts }: AppDeps, { conversations, history }: StoredResponses) => {
  const read = (request: Request) => bodies.read(request, bodyCeilings.generation);
  const answer = (conversation: Parameters<typeof encodeConversation>[0]) =>
    Response.json(encodeConversation(conversation));

  return new Elysia({ name: "route.conversations" })
    .post(
      "/v1/conversations",
      async ({ request }) => {
        // OpenAI's client sends no body when it has nothing to send.
        const { items, metadata } = decodeConversation(request.body ? await read(request) : {}, history.item);
        return answer(conversations.create(metadata, items));
      },
      jsonRoute(ConversationRequest, Conversation),
    )
    .get("/v1/conversations/:id", ({ params }) => answer(conversations.get(params.id)), jsonAnswer(Conversation))
    .post(
      "/v1/conversations/:id",
      async ({ params, request }) => {
        const metadata = decodeConversationUpdate(await read(request));
        return answer(conversations.setMetadata(params.id, metadata));
      },
      jsonRoute(ConversationUpdate, Conversation),
    )
    .delete(
      "/v1/conversations/:id",
      ({ params: { id } }) => {
        conversations.delete(id);
        return Response.json({ id, object: "conversation.deleted", deleted: true });
      },
      jsonAnswer(DeletedConversation),
    )
    .post(
      "/v1/conversations/:id/items",
      async ({ params, request }) => {
        const items = decodeConversationItems(await read(request), history.item);
        return jsonResponse(contexts.of(request), listOf(conversations.add(params.id, items), false));
      },
      jsonRoute(ConversationItemsRequest, InputItemList),
    )
    .get(
      "/v1/conversations/:id/items",
      ({ params, request }) => {
        const page = decodePage(new URL(request.url).searchParams);
        return jsonResponse(contexts.of(request), listItems(conversations.get(params.id).items, page));
      },
      jsonAnswer(InputItemList),
    )
    .get(
      "/v1/conversations/:id/items/:item",
      ({ params, request }) => jsonResponse(contexts.of(request), conversations.item(params.id, params.item)),
      jsonAnswer(ConversationItem),
    )
    .delete(
      "/v1/conversations/:id/items/:item",
      ({ params }) => answer(conversations.removeItem(params.id, params.item)),
      jsonAnswer(Conversation),
    );
};
