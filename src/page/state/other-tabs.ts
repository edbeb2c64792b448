// Which turns other tabs of the page are writing, by what they tell when they store a chat.

import { signal } from "@preact/signals";

/**
 * Milliseconds after which a tab that stores nothing has been closed. The tab that writes is usually hidden, and Chrome
 * lets the timers of a page that is hidden for long run once a minute.
 */
const SILENCE_MS = 70_000;

interface Written {
  readonly turn: string;
  readonly silence: ReturnType<typeof setTimeout>;
}

export class OtherTabs {
  /** By conversation. */
  private readonly all = signal<ReadonlyMap<string, Written>>(new Map());

  isWriting(conversation: string, turn: string): boolean {
    return this.all.value.get(conversation)?.turn === turn;
  }

  /** Notes the turn of a conversation that another tab is writing; without one, that it writes none. */
  note(conversation: string, turn?: string): void {
    const all = new Map(this.all.value);
    clearTimeout(all.get(conversation)?.silence);
    all.delete(conversation);
    if (turn !== undefined) {
      const silence = setTimeout(() => this.note(conversation), SILENCE_MS);
      all.set(conversation, { turn, silence });
    }
    this.all.value = all;
  }
}
