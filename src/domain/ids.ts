// Identifiers that leave the process: random, URL-safe, and prefixed by what they name.

const hex = (length: number) => crypto.randomUUID().replaceAll("-", "").slice(0, length);

/** Correlation id for a request that brought none (contract: `req_` and twelve hexadecimal digits). */
export const newRequestId = (): string => `req_${hex(12)}`;

/** Id of a chat completion. */
export const newChatCompletionId = (): string => `chatcmpl-${hex(24)}`;

/** Id of a response, and of an item of one: `rs` reasoning, `msg` message, `fc` function call, `item` of an input. */
export const newResponseId = (): string => `resp_${hex(32)}`;
export const newItemId = (kind: "rs" | "msg" | "fc" | "item" | "cmp"): string => `${kind}_${hex(32)}`;

/** The items with ids that no other has: one that is empty or taken is replaced, unless it refers to another item. */
export function withOwnIds<Item extends { readonly id: string; readonly type?: string }>(
  items: readonly Item[],
  others: readonly Item[] = [],
): readonly Item[] {
  const taken = new Set(["", ...others.map(({ id }) => id)]);
  return items.map((item) => {
    const id = taken.has(item.id) && item.type !== "item_reference" ? newItemId("item") : item.id;
    taken.add(id);
    return { ...item, id };
  });
}

/** Id of a conversation that responses go on from. */
export const newConversationId = (): string => `conv_${hex(32)}`;

/** Id of a live session, and of an event in it. */
export const newSessionId = (): string => `sess_${hex(24)}`;
export const newEventId = (): string => `event_${hex(24)}`;

/** Secret that opens live sessions. */
export const CLIENT_SECRET_PREFIX = "ek_";
export const newClientSecret = (): string => `${CLIENT_SECRET_PREFIX}${hex(32)}`;

/** Id of a file, of a batch, and of the answer to one of its lines. */
export const newFileId = (): string => `file-${hex(24)}`;
export const newBatchId = (): string => `batch_${hex(24)}`;
export const newBatchAnswerId = (): string => `batch_req_${hex(24)}`;

/** Id of an image that is kept for fetching. */
export const newImageId = (): string => `img_${hex(32)}`;

/** Id of a message of the messages convention. */
export const newMessageId = (): string => `msg_${hex(24)}`;

/** Id of a completion of raw text. */
export const newCompletionId = (): string => `cmpl-${hex(24)}`;

/** A client's correlation id is echoed and usable for cancelling when it is 1 to 128 visible ASCII characters. */
export const isRequestId = (value: string): boolean => /^[\x21-\x7e]{1,128}$/.test(value);

/** Id of a tool call whose template gives none. */
export const newToolCallId = (): string => `call_${hex(24)}`;
