// All chats: those in the browser's database, and those that only this tab has because they are not stored yet, or
// cannot be.

import { signal } from "@preact/signals";
import type { Conversation } from "../logic/conversation.ts";
import { messageOf } from "./api.ts";
import { summaryOf, withSummary, type History, type Summary } from "./history.ts";

/** Where conversations are stored. */
type Store = Pick<History, keyof History>;

interface Unstored {
  readonly conversation: Conversation;
  /** The turn that is being written in it. */
  readonly writing: string | undefined;
  /** Why it could not be stored, for the user; absent until that has failed. */
  readonly why: string | undefined;
}

const NO_ROOM = "The browser has no room for this chat: export it, or delete others.";

export class Chats {
  readonly summaries = signal<readonly Summary[]>([]);
  /** Why the list may lack chats; empty when it does not. */
  readonly trouble = signal("");
  /** The newest version of each chat that is not stored, by the chat's id. */
  private readonly unstored = signal<ReadonlyMap<string, Unstored>>(new Map());
  private store: Store | undefined;

  /** Whether there is a database; without one, a chat ends when another is begun. */
  get areKept(): boolean {
    return this.store !== undefined;
  }

  async use(store: Store): Promise<void> {
    this.store = store;
    await this.list();
  }

  /** Reads the list of all chats. */
  async list(): Promise<void> {
    try {
      const stored = await this.store?.list();
      const others = Array.from(this.unstored.value.values(), ({ conversation }) => summaryOf(conversation));
      if (stored) this.summaries.value = others.reduce(withSummary, stored);
      this.trouble.value = "";
    } catch (error) {
      this.trouble.value = `The list of chats cannot be read: ${messageOf(error)}`;
    }
  }

  /** Updates one entry: chats are stored every few seconds during an answer, and there may be thousands of them. */
  relist(summary: Summary): void {
    this.summaries.value = withSummary(this.summaries.value, summary);
  }

  /** Returns a chat that only this tab has in this version. */
  newest(id: string): Conversation | undefined {
    return this.unstored.value.get(id)?.conversation;
  }

  /** Reads what is stored of a chat. */
  async read(id: string): Promise<Conversation | undefined> {
    return this.store?.get(id);
  }

  /** Yields all chats, read one by one: all together may not fit into memory. */
  async *all(): AsyncGenerator<Conversation> {
    const listed = (await this.store?.list()) ?? [];
    for (const id of new Set([...this.unstored.value.keys(), ...listed.map((one) => one.id)])) {
      const chat = this.newest(id) ?? (await this.read(id));
      if (chat) yield chat;
    }
  }

  /** Returns why a chat could not be stored, for the user. */
  whyUnstored(id: string): string | undefined {
    return this.unstored.value.get(id)?.why;
  }

  /** Stores a chat, which this tab keeps until that succeeds. `writing`: the turn that is being written in it. */
  async put(conversation: Conversation, writing?: string): Promise<void> {
    if (!this.store) return;
    const { id } = conversation;
    const version = { conversation, writing, why: this.whyUnstored(id) };
    this.note(id, version);
    // Meanwhile it may be put again, or deleted, after which a failure must not bring it back.
    const isNewest = () => this.unstored.value.get(id) === version;
    try {
      const summary = await this.store.put(conversation, writing);
      if (!isNewest()) return;
      this.note(id, undefined);
      this.relist(summary);
    } catch (error) {
      if (!isNewest()) return;
      const isFull = error instanceof Error && error.name === "QuotaExceededError";
      const why = isFull ? NO_ROOM : `This chat is not stored: ${messageOf(error)}`;
      this.note(id, { ...version, why });
      this.relist(summaryOf(conversation));
    }
  }

  async import(conversations: readonly Conversation[]): Promise<void> {
    try {
      for (const one of conversations) await this.store?.put(one);
    } finally {
      await this.list();
    }
  }

  /** Deletes a chat, by its id, or all. */
  async remove(id?: string): Promise<void> {
    this.forget(id);
    try {
      await (id === undefined ? this.store?.clear() : this.store?.remove(id));
    } finally {
      await this.afterRemoval();
    }
  }

  /** Follows another tab, which deleted a chat, or all. */
  async removedElsewhere(id?: string): Promise<void> {
    this.forget(id);
    await this.afterRemoval();
  }

  private forget(id?: string): void {
    const isOther = (one: string) => id !== undefined && one !== id;
    this.unstored.value = new Map([...this.unstored.value].filter(([one]) => isOther(one)));
    this.summaries.value = this.summaries.value.filter((one) => isOther(one.id));
  }

  private async afterRemoval(): Promise<void> {
    await this.list();
    // There may be room for them now.
    for (const { conversation, writing, why } of this.unstored.value.values())
      if (why !== undefined) void this.put(conversation, writing);
  }

  private note(id: string, version: Unstored | undefined): void {
    const all = new Map(this.unstored.value);
    if (version) all.set(id, version);
    else all.delete(id);
    this.unstored.value = all;
  }
}
