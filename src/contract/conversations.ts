// /v1/conversations: stored items, which responses continue by the conversation's id.

import { Metadata } from "./metadata.ts";
import { InputItem } from "./responses.ts";
import { nullable, opt, t, type Static } from "./schema.ts";

const items = t.Array(InputItem);

export const ConversationRequest = t.Object({ items: opt(items), metadata: opt(Metadata) });
export const ConversationUpdate = t.Object({ metadata: nullable(Metadata) });
export const ConversationItemsRequest = t.Object({ items });

export const Conversation = t.Object({
  id: t.String(),
  object: t.Literal("conversation"),
  created_at: t.Integer(),
  metadata: Metadata,
});

export const DeletedConversation = t.Object({
  id: t.String(),
  object: t.Literal("conversation.deleted"),
  deleted: t.Boolean(),
});

/** An item in the form that POST /v1/responses takes or returns, with an id. */
export const ConversationItem = t.Object({ id: t.String(), type: t.String() }, { additionalProperties: true });

export type Conversation = Static<typeof Conversation>;
