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
/** All chats without a message share the draft with this key, since "New chat" begins another one each time. */
const NEW = "";

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

  /** Forgets the draft of a chat that is deleted, by its id, or those of all; what is begun in a new chat stays. */
  forget(id?: string): void {
    const others = [...this.all.value].filter(([key]) => key === NEW || (id !== undefined && key !== id));
    this.keep(new Map(others));
  }

  private keep(all: ReadonlyMap<string, Draft>): void {
    this.all.value = all;
    const texts = [...all].flatMap(([id, { text }]) => (text ? [[id, text] as const] : []));
    this.kept.set(DRAFTS, JSON.stringify(Object.fromEntries(texts)));
  }
}

const keyOf = ({ id, leaf }: Conversation): string => (leaf === null ? NEW : id);
