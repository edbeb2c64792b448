// What people have begun to write in each chat, until they send it or close the tab.

import { signal } from "@preact/signals";
import type { Attachment, Conversation, Turn } from "../logic/conversation.ts";
import { Kept } from "./kept.ts";

export interface Draft {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

const EMPTY: Draft = { text: "", attachments: [] };
const DRAFTS = "svc.drafts";
const NEW = "";

/** The place of the next message. All chats without one share it, since "New chat" begins another one each time. */
export const messagePlace = ({ id, leaf }: Conversation): string => (leaf === null ? NEW : id);

/** The place of what is written in a turn: its other text, or with `field` the result of a call. */
export const turnPlace = ({ id }: Conversation, turn: Turn, field?: number): string =>
  [id, turn.id, ...(field === undefined ? [] : [field])].join("/");

/** The texts outlast a reload of the page; attached files, which may be large, do not. */
export class Drafts {
  private readonly all = signal<ReadonlyMap<string, Partial<Draft>>>(new Map());

  constructor(private readonly kept = new Kept("sessionStorage")) {
    const texts = JSON.parse(kept.get(DRAFTS) ?? "{}") as Readonly<Record<string, string>>;
    this.all.value = new Map(Object.entries(texts).map(([place, text]) => [place, { text }]));
  }

  has(place: string): boolean {
    return this.all.value.has(place);
  }

  /** Returns what is written in a place, which begins with `first`. */
  of(place: string, first = EMPTY): Draft {
    return { ...first, ...this.all.value.get(place) };
  }

  change(place: string, change: Partial<Draft>): void {
    this.keep(new Map(this.all.value).set(place, { ...this.all.value.get(place), ...change }));
  }

  drop(place: string): void {
    this.keep(new Map([...this.all.value].filter(([one]) => one !== place)));
  }

  /** Forgets the drafts in a chat that is deleted, by its id, or those in all; what is begun in a new chat stays. */
  forget(id?: string): void {
    const isElsewhere = (place: string) => place !== id && !place.startsWith(`${id}/`);
    const others = [...this.all.value].filter(([place]) => place === NEW || (id !== undefined && isElsewhere(place)));
    this.keep(new Map(others));
  }

  private keep(all: ReadonlyMap<string, Partial<Draft>>): void {
    this.all.value = all;
    const texts = [...all].flatMap(([place, { text }]) => (text ? [[place, text] as const] : []));
    this.kept.set(DRAFTS, JSON.stringify(Object.fromEntries(texts)));
  }
}
