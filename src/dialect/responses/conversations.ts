// /v1/conversations: decodes bodies to store, and encodes stored conversations as resources.

import {
  ConversationItemsRequest,
  ConversationRequest,
  ConversationUpdate,
  type Conversation,
} from "../../contract/conversations.ts";
import { checker } from "../../contract/schema.ts";
import { checkedMetadata } from "../fields/metadata.ts";
import type { FindItem } from "./input.ts";
import { keptItems } from "./items.ts";

const checkRequest = checker(ConversationRequest);
const checkItems = checker(ConversationItemsRequest);
const checkUpdate = checker(ConversationUpdate);

/** Decodes a new conversation. Throws SvcError with a code of the 400 family, naming the field. */
export function decodeConversation(body: unknown, findItem: FindItem) {
  const { items, metadata } = checkRequest(body);
  return { items: keptItems(items ?? [], findItem), metadata: checkedMetadata(metadata) ?? {} };
}

/** Decodes items to add. Throws SvcError with a code of the 400 family, naming the field. */
export const decodeConversationItems = (body: unknown, findItem: FindItem) =>
  keptItems(checkItems(body).items, findItem);

/** Decodes new metadata. Throws SvcError with a code of the 400 family, naming the field. */
export const decodeConversationUpdate = (body: unknown) => checkedMetadata(checkUpdate(body).metadata) ?? {};

interface Kept {
  readonly id: string;
  readonly createdAt: number;
  readonly metadata: Readonly<Record<string, string>>;
}

export const encodeConversation = ({ id, createdAt, metadata }: Kept): Conversation => ({
  id,
  object: "conversation",
  created_at: createdAt,
  metadata,
});
