// Conversations that outlive their requests: items that clients add, and what answers add to them.

import type { Clock } from "../domain/clock.ts";
import { SvcError } from "../domain/errors.ts";
import { newConversationId } from "../domain/ids.ts";
import { BoundedStore, type StoreLimits } from "../store/bounded-store.ts";

export interface Conversation<Item> {
  readonly id: string;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly items: readonly Item[];
  /** Size of all items as JSON. */
  readonly bytes: number;
}

/** `Item` is the wire's; here items are only kept. */
export class ConversationsService<Item extends { readonly id: string }> {
  private readonly store: BoundedStore<Conversation<Item>>;

  constructor(
    private readonly limits: StoreLimits,
    private readonly clock: Clock,
  ) {
    this.store = new BoundedStore(limits);
  }

  /** Throws SvcError `payload_too_large` as `checkRoom` does. */
  create(metadata: Readonly<Record<string, string>>, items: readonly Item[]): Conversation<Item> {
    const createdAt = Math.floor(this.clock.wall() / 1000);
    const empty = { id: newConversationId(), createdAt, metadata, items: [], bytes: 0 };
    this.checkRoom(empty, items);
    return this.keep(empty, items);
  }

  /** Throws SvcError `not_found`. */
  get(id: string): Conversation<Item> {
    const conversation = this.store.get(id);
    if (conversation) return conversation;
    throw new SvcError("not_found", "No conversation with this id is stored.", { param: "conversation" });
  }

  /** Throws SvcError `not_found`. */
  setMetadata(id: string, metadata: Readonly<Record<string, string>>): Conversation<Item> {
    return this.keep({ ...this.get(id), metadata });
  }

  /** Throws SvcError `not_found`. */
  delete(id: string): void {
    this.get(id);
    this.store.delete(id);
  }

  /** Throws SvcError `not_found`, and `payload_too_large` as `checkRoom` does. */
  add(id: string, items: readonly Item[]): void {
    this.checkRoom(this.get(id), items);
    this.append(id, items);
  }

  /** What an answer adds; nothing where the conversation was deleted or pushed out meanwhile. */
  append(id: string, items: readonly Item[]): void {
    const conversation = this.store.get(id);
    if (conversation) this.keep(conversation, items);
  }

  /** Throws SvcError `not_found`. */
  item(id: string, itemId: string): Item {
    const item = this.get(id).items.find((one) => one.id === itemId);
    if (item) return item;
    throw new SvcError("not_found", "The conversation has no item with this id.", { param: "item_id" });
  }

  /** Throws SvcError `not_found`. */
  removeItem(id: string, itemId: string): Conversation<Item> {
    const removed = this.item(id, itemId);
    const conversation = this.get(id);
    const items = conversation.items.filter((item) => item !== removed);
    return this.keep({ ...conversation, items, bytes: conversation.bytes - sizeOf([removed]) });
  }

  /** Undefined when there is no such conversation. */
  items(id: string): readonly Item[] | undefined {
    return this.store.get(id)?.items;
  }

  /** Throws SvcError `payload_too_large` where a conversation with these items as well would be larger than all may be. */
  checkRoom(conversation: Conversation<Item>, items: readonly Item[]): void {
    const bytes = conversation.bytes + sizeOf(items);
    if (bytes <= this.limits.bytes && this.limits.count > 0) return;
    const most = this.limits.count > 0 ? this.limits.bytes : 0;
    const message = `The conversation would have ${bytes} bytes; this server keeps at most ${most}.`;
    throw new SvcError("payload_too_large", message);
  }

  private keep(conversation: Conversation<Item>, more: readonly Item[] = []): Conversation<Item> {
    const items = [...conversation.items, ...more];
    const kept = { ...conversation, items, bytes: conversation.bytes + sizeOf(more) };
    this.store.put(kept.id, kept, kept.bytes + JSON.stringify(kept.metadata).length);
    return kept;
  }
}

const sizeOf = (items: readonly unknown[]): number =>
  items.reduce<number>((sum, item) => sum + JSON.stringify(item).length, 0);
