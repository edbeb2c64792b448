// The stored responses and conversations from which requests of the Responses API continue.

import type { ResponseResource } from "../contract/responses.ts";
import type { History } from "../dialect/responses/decode.ts";
import type { ListedItem } from "../dialect/responses/items.ts";
import type { NamedEvent } from "../dialect/stream/streamed.ts";
import { ConversationsService } from "../service/conversations.ts";
import { ResponsesService } from "../service/responses.ts";
import type { AppDeps } from "./deps.ts";

export interface StoredResponses {
  readonly responses: ResponsesService<ResponseResource, NamedEvent>;
  readonly conversations: ConversationsService<ListedItem>;
  readonly history: History;
}

/** Creates the stores, which are empty. */
export function storedResponses({ config, clock }: Pick<AppDeps, "config" | "clock">): StoredResponses {
  const responses = new ResponsesService<ResponseResource, NamedEvent>(config.storedResponses);
  const conversations = new ConversationsService<ListedItem>(config.storedResponses, clock);
  const history: History = {
    upTo: (id) => responses.get(id)?.conversation,
    items: (id) => conversations.items(id),
    item: (id) => responses.item(id),
  };
  return { responses, conversations, history };
}
