// Identifiers that leave the process: random, URL-safe, and prefixed by the kind of thing that they name.

const hex = (length: number) => crypto.randomUUID().replaceAll("-", "").slice(0, length);

/** Returns a correlation id for a request that sent none (contract: `req_` and twelve hexadecimal digits). */
export const newRequestId = (): string => `req_${hex(12)}`;

/** Returns an id for a chat completion. */
export const newChatCompletionId = (): string => `chatcmpl-${hex(24)}`;

/**
 * Id of a response, or an item: `rs` reasoning, `msg` message, `fc` function call, `ctc` call of a custom tool, `item`
 * input, `cmp` compaction.
 */
export const newResponseId = (): string => `resp_${hex(32)}`;
export const newItemId = (kind: "rs" | "msg" | "fc" | "ctc" | "item" | "cmp"): string => `${kind}_${hex(32)}`;

/** Returns the items with unique ids: an empty or taken id is replaced, except in a reference to another item. */
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

/** Returns an id for a conversation that responses continue. */
export const newConversationId = (): string => `conv_${hex(32)}`;

/** Id of a live session, or of an event in one. */
export const newSessionId = (): string => `sess_${hex(24)}`;
export const newEventId = (): string => `event_${hex(24)}`;

/** Client secret that opens live sessions. */
export const CLIENT_SECRET_PREFIX = "ek_";
export const newClientSecret = (): string => `${CLIENT_SECRET_PREFIX}${hex(32)}`;

/** Id of a file, of a batch, or of the answer to one of a batch's lines. */
export const newFileId = (): string => `file-${hex(24)}`;
export const newBatchId = (): string => `batch_${hex(24)}`;
export const newBatchAnswerId = (): string => `batch_req_${hex(24)}`;

/** Returns an id for an image that is stored for download. */
export const newImageId = (): string => `img_${hex(32)}`;

/** Returns an id for a message of the Anthropic-compatible Messages API. */
export const newMessageId = (): string => `msg_${hex(24)}`;

/** Returns an id for a raw text completion. */
export const newCompletionId = (): string => `cmpl-${hex(24)}`;

/** Returns whether a client's correlation id is valid (1 to 128 visible ASCII characters): echoed, usable to cancel. */
export const isRequestId = (value: string): boolean => /^[\x21-\x7e]{1,128}$/.test(value);

/** Returns an id for a tool call whose template assigns none. */
export const newToolCallId = (): string => `call_${hex(24)}`;
