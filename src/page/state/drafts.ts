// What people have begun to write in each chat, until they send it or close the tab.

import { signal } from "@preact/signals";
import type { Attachment, Conversation } from "../logic/conversation.ts";
import { Kept } from "./kept.ts";

export interface Draft {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

const EMPTY: Draft = { text: "", attachments: [] };
const DRAFTS = "svc.drafts";

/** The texts outlast a reload of the page; attached files, which may be large, do not. */
export class Drafts {
  private readonly all = signal<ReadonlyMap<string, Draft>>(new Map());

  constructor(private readonly kept = new Kept("sessionStorage")) {
    const texts = JSON.parse(kept.get(DRAFTS) ?? "{}") as Readonly<Record<string, string>>;
    this.all.value = new Map(Object.entries(texts).map(([id, text]) => [id, { ...EMPTY, text }]));
  }

  of(conversation: Conversation): Draft {
    return this.all.value.get(keyOf(conversation)) ?? EMPTY;
  }

  change(conversation: Conversation, change: (draft: Draft) => Partial<Draft>): void {
    const draft = this.of(conversation);
    this.keep(new Map(this.all.value).set(keyOf(conversation), { ...draft, ...change(draft) }));
  }

  /** Forgets the draft in a conversation. */
  drop(conversation: Conversation): void {
    const others = new Map(this.all.value);
    others.delete(keyOf(conversation));
    this.keep(others);
  }

  private keep(all: ReadonlyMap<string, Draft>): void {
    this.all.value = all;
    const texts = [...all].flatMap(([id, { text }]) => (text ? [[id, text] as const] : []));
    this.kept.set(DRAFTS, JSON.stringify(Object.fromEntries(texts)));
  }
}

/** All chats without a message share a draft, since "New chat" begins another one each time. */
const keyOf = ({ id, leaf }: Conversation): string => (leaf === null ? "" : id);
