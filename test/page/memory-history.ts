// A database of chats in memory.

import { mergedWith, type Conversation } from "../../src/page/logic/conversation.ts";
import { summaryOf } from "../../src/page/state/history.ts";

/** Stands in for the browser's database; calls take some time and run one after another. */
export class MemoryHistory {
  readonly conversations = new Map<string, Conversation>();
  private last: Promise<unknown> = Promise.resolve();
  /** Calls that are not done yet. */
  pending = 0;

  listed = 0;
  list = () => {
    this.listed++;
    return this.later(() => [...this.conversations.values()].map(summaryOf));
  };
  get = (id: string) => this.later(() => this.conversations.get(id));
  put = (one: Conversation) =>
    this.later(() => {
      const known = this.conversations.get(one.id);
      const stored = known ? mergedWith(one, known) : one;
      this.conversations.set(one.id, stored);
      return summaryOf(stored);
    });
  remove = (id: string) => this.later(() => void this.conversations.delete(id));
  clear = () => this.later(() => this.conversations.clear());

  private later<T>(work: () => T): Promise<T> {
    this.pending++;
    const done = this.last
      .then(() => Bun.sleep(5))
      .then(() => {
        this.pending--;
        return work();
      });
    this.last = done;
    return done;
  }
}

/** Waits until what was stopped has ended, and everything is stored. */
export async function storedIn(history: MemoryHistory): Promise<void> {
  do await Bun.sleep(1);
  while (history.pending > 0);
}
