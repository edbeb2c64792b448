// Stores conversations in the browser's database; they never leave the browser.

import { openDB, type DBSchema, type IDBPDatabase } from "idb";
import { mergedWith, type Conversation } from "../logic/conversation.ts";

/** A conversation as the list shows it. */
export interface Summary {
  readonly id: string;
  readonly title: string;
  readonly updatedAt: number;
}

/** What another tab did to a conversation; `id` is absent when it removed all. */
export interface Change {
  readonly id?: string;
  /** What the list shows of it now; absent when it was removed. */
  readonly summary?: Summary;
  /** The turn that the other tab is still writing. */
  readonly writing?: string | undefined;
}

export const summaryOf = ({ id, title, updatedAt }: Conversation): Summary => ({ id, title, updatedAt });

/** Returns the list with this entry in its place, or the same list when it has the entry already. */
export function withSummary(list: readonly Summary[], summary: Summary): readonly Summary[] {
  const { id, title, updatedAt } = summary;
  if (list.some((one) => one.id === id && one.title === title && one.updatedAt === updatedAt)) return list;
  return [summary, ...list.filter((one) => one.id !== id)].toSorted((a, b) => b.updatedAt - a.updatedAt);
}

interface Schema extends DBSchema {
  conversations: { key: string; value: Conversation; indexes: { list: [number, string] } };
}

export class History {
  private constructor(
    private readonly database: IDBPDatabase<Schema>,
    private readonly channel: BroadcastChannel,
  ) {}

  /** Opens the database; throws when there is none. `changed` is called when another tab has changed something. */
  static async open(changed: (change: Change) => void): Promise<History> {
    const database = await openDB<Schema>("svc", 1, {
      upgrade(made) {
        made.createObjectStore("conversations", { keyPath: "id" }).createIndex("list", ["updatedAt", "title"]);
      },
    });
    const channel = new BroadcastChannel("svc.history");
    channel.addEventListener("message", ({ data }: MessageEvent<Change>) => changed(data));
    return new History(database, channel);
  }

  /** Lists conversations, newest first. Reads only the index, since conversations may be large. */
  async list(): Promise<Summary[]> {
    const found: Summary[] = [];
    const { store } = this.database.transaction("conversations");
    for (let at = await store.index("list").openKeyCursor(null, "prev"); at; at = await at.continue()) {
      const [updatedAt, title] = at.key;
      found.push({ id: at.primaryKey, title, updatedAt });
    }
    return found;
  }

  get(id: string): Promise<Conversation | undefined> {
    return this.database.get("conversations", id);
  }

  all(): Promise<Conversation[]> {
    return this.database.getAll("conversations");
  }

  /**
   * Stores a conversation, merged with what another tab has stored of it; resolves with what the list shows of it.
   * `writing`: the turn that is still being written.
   */
  async put(conversation: Conversation, writing?: string): Promise<Summary> {
    const { store, done } = this.database.transaction("conversations", "readwrite");
    const known = await store.get(conversation.id);
    const stored = known ? mergedWith(conversation, known) : conversation;
    await store.put(stored);
    await done;
    const summary = summaryOf(stored);
    this.tell({ id: summary.id, summary, writing });
    return summary;
  }

  async remove(id: string): Promise<void> {
    await this.database.delete("conversations", id);
    this.tell({ id });
  }

  async clear(): Promise<void> {
    await this.database.clear("conversations");
    this.tell({});
  }

  private tell(change: Change): void {
    this.channel.postMessage(change);
  }
}
