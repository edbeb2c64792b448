// What people have begun to write in each chat, until they send it or close the page.

import { signal } from "@preact/signals";
import type { Attachment, Conversation } from "../logic/conversation.ts";

export interface Draft {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

const EMPTY: Draft = { text: "", attachments: [] };

export class Drafts {
  private readonly all = signal<ReadonlyMap<string, Draft>>(new Map());

  of(conversation: Conversation): Draft {
    return this.all.value.get(keyOf(conversation)) ?? EMPTY;
  }

  change(conversation: Conversation, change: (draft: Draft) => Partial<Draft>): void {
    const draft = this.of(conversation);
    this.all.value = new Map(this.all.value).set(keyOf(conversation), { ...draft, ...change(draft) });
  }

  /** Forgets the draft in a conversation. */
  drop(conversation: Conversation): void {
    const others = new Map(this.all.value);
    others.delete(keyOf(conversation));
    this.all.value = others;
  }
}

/** All chats without a message share a draft, since "New chat" begins another one each time. */
const keyOf = ({ id, leaf }: Conversation): string => (leaf === null ? "" : id);
