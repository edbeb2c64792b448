// Chats that the browser could not store: only this tab has them.

import { signal } from "@preact/signals";
import type { Conversation } from "../logic/conversation.ts";
import { messageOf } from "./api.ts";

interface Entry {
  readonly conversation: Conversation;
  /** For the user. */
  readonly why: string;
}

const NO_ROOM = "The browser has no room for this chat: export it, or delete others.";

export class Unsaved {
  /** By the chat's id. */
  private readonly all = signal<ReadonlyMap<string, Entry>>(new Map());

  get(id: string): Entry | undefined {
    return this.all.value.get(id);
  }

  conversations(): Conversation[] {
    return Array.from(this.all.value.values(), ({ conversation }) => conversation);
  }

  add(conversation: Conversation, error: unknown): void {
    const isFull = error instanceof Error && error.name === "QuotaExceededError";
    const why = isFull ? NO_ROOM : `This chat is not stored: ${messageOf(error)}`;
    this.all.value = new Map(this.all.value).set(conversation.id, { conversation, why });
  }

  /** Forgets a chat that is stored or deleted, by its id, or all. */
  forget(id?: string): void {
    this.all.value = new Map([...this.all.value].filter(([one]) => id !== undefined && one !== id));
  }
}
