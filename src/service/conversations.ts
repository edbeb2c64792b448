// Stores conversations beyond their requests: items that clients add, and items of answers.

import { unixSeconds, type Clock } from "../domain/clock.ts";
import { SvcError } from "../domain/errors.ts";
import { memoryOf } from "../domain/json-bounds.ts";
import { newConversationId, withOwnIds } from "../domain/ids.ts";
import { BoundedStore, type StoreLimits } from "../store/bounded-store.ts";

interface Conversation<Item> {
  readonly id: string;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly items: readonly Item[];
  /** Memory of the metadata and all items. */
  readonly bytes: number;
}

/** Most items of a conversation: each request that continues it reads all of them. A prompt takes fewer. */
const MOST_ITEMS = 10_000;

/** `Item` is a type of the wire; this service only stores items. */
export class ConversationsService<Item extends { readonly id: string; readonly type: string }> {
  private readonly store: BoundedStore<Conversation<Item>>;

  constructor(
    private readonly limits: StoreLimits,
    private readonly clock: Clock,
  ) {
    this.store = new BoundedStore(limits);
  }

  /** Creates a conversation. Throws SvcError `payload_too_large` as `checkSize` does. */
  create(metadata: Readonly<Record<string, string>>, items: readonly Item[]): Conversation<Item> {
    const createdAt = unixSeconds(this.clock);
    const empty = { id: newConversationId(), createdAt, metadata, items: [], bytes: sizeOf([metadata]) };
    const own = withOwnIds(items);
    return this.keep({ ...empty, items: own, bytes: this.checkSize(empty, own) });
  }

  /** Returns a conversation. Throws SvcError `not_found`. */
  get(id: string): Conversation<Item> {
    const conversation = this.store.get(id);
    if (conversation) return conversation;
    throw new SvcError("not_found", "No conversation with this id is stored.", { param: "conversation" });
  }

  /** Replaces the metadata. Throws SvcError `not_found`, and `payload_too_large` above a limit. */
  setMetadata(id: string, metadata: Readonly<Record<string, string>>): Conversation<Item> {
    const conversation = this.get(id);
    const others = { ...conversation, bytes: conversation.bytes - sizeOf([conversation.metadata]) };
    return this.keep({ ...others, metadata, bytes: this.checkBytes(others, [metadata]) });
  }

  /** Deletes a conversation. Throws SvcError `not_found`. */
  delete(id: string): void {
    this.get(id);
    this.store.delete(id);
  }

  /** Adds items; returns them as stored. Throws SvcError `not_found`, and `payload_too_large` as `checkSize` does. */
  add(id: string, items: readonly Item[]): readonly Item[] {
    const conversation = this.get(id);
    const own = withOwnIds(items, conversation.items);
    this.keep(withItems(conversation, own, this.checkSize(conversation, own)));
    return own;
  }

  /** Adds an answer's items, unless the conversation was deleted or evicted meanwhile or would become too large. */
  append(id: string, items: readonly Item[]): void {
    const conversation = this.store.get(id);
    if (!conversation) return;
    const own = withOwnIds(items, conversation.items);
    const bytes = conversation.bytes + sizeOf(own);
    const count = conversation.items.length + own.length;
    if (count <= MOST_ITEMS && bytes <= this.limits.bytes) this.keep(withItems(conversation, own, bytes));
  }

  /** Returns one item. Throws SvcError `not_found`. */
  item(id: string, itemId: string): Item {
    return itemOf(this.get(id), itemId);
  }

  /** Removes one item and returns the conversation. Throws SvcError `not_found`. */
  removeItem(id: string, itemId: string): Conversation<Item> {
    const conversation = this.get(id);
    const removed = itemOf(conversation, itemId);
    const items = conversation.items.filter((item) => item !== removed);
    return this.keep({ ...conversation, items, bytes: conversation.bytes - sizeOf([removed]) });
  }

  /** Returns all items; undefined when there is no such conversation. */
  items(id: string): readonly Item[] | undefined {
    return this.store.get(id)?.items;
  }

  /** Returns a conversation's bytes with `more` added. Throws SvcError `payload_too_large` above a limit. */
  checkSize(conversation: Conversation<Item>, more: readonly Item[]): number {
    const count = conversation.items.length + more.length;
    if (count <= MOST_ITEMS) return this.checkBytes(conversation, more);
    const message = `The conversation would have ${count} items; it may have at most ${MOST_ITEMS}.`;
    throw new SvcError("payload_too_large", message);
  }

  private checkBytes(conversation: Conversation<Item>, more: readonly unknown[]): number {
    const bytes = conversation.bytes + sizeOf(more);
    if (bytes <= this.limits.bytes && this.limits.count > 0) return bytes;
    const most = this.limits.count > 0 ? this.limits.bytes : 0;
    const message = `The conversation would have ${bytes} bytes; this server keeps at most ${most}.`;
    throw new SvcError("payload_too_large", message);
  }

  private keep(conversation: Conversation<Item>): Conversation<Item> {
    this.store.put(conversation.id, conversation, conversation.bytes);
    return conversation;
  }
}

const withItems = <Item>(
  conversation: Conversation<Item>,
  more: readonly Item[],
  bytes: number,
): Conversation<Item> => ({
  ...conversation,
  items: [...conversation.items, ...more],
  bytes,
});

function itemOf<Item extends { readonly id: string }>({ items }: Conversation<Item>, id: string): Item {
  const item = items.find((one) => one.id === id);
  if (item) return item;
  throw new SvcError("not_found", "The conversation has no item with this id.", { param: "item_id" });
}

const sizeOf = (values: readonly unknown[]): number => values.reduce<number>((sum, value) => sum + memoryOf(value), 0);
