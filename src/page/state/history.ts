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
  private readonly channel = new BroadcastChannel("svc.history");
  private opened: Promise<IDBPDatabase<Schema>> | undefined;

  /** Opens the database; throws when there is none. `changed` is called when another tab has changed something. */
  static async open(changed: (change: Change) => void): Promise<History> {
    const history = new History();
    await history.database();
    history.channel.addEventListener("message", ({ data }: MessageEvent<Change>) => changed(data));
    return history;
  }

  /** Opens the database unless it is open: browsers close it when its files fail, or when the user deletes site data. */
  private database(): Promise<IDBPDatabase<Schema>> {
    const closed = () => (this.opened = undefined);
    this.opened ??= openDB<Schema>("svc", 1, {
      upgrade(made) {
        made.createObjectStore("conversations", { keyPath: "id" }).createIndex("list", ["updatedAt", "title"]);
      },
      terminated: closed,
      // Else it could not be deleted while this tab is open.
      blocking(_version, _wanted, { target }) {
        closed();
        (target as IDBDatabase).close();
      },
    });
    this.opened.catch(closed);
    return this.opened;
  }

  /** Lists conversations, newest first. Reads only the index, since conversations may be large. */
  async list(): Promise<Summary[]> {
    const found: Summary[] = [];
    const { store } = (await this.database()).transaction("conversations");
    for (let at = await store.index("list").openKeyCursor(null, "prev"); at; at = await at.continue()) {
      const [updatedAt, title] = at.key;
      found.push({ id: at.primaryKey, title, updatedAt });
    }
    return found;
  }

  async get(id: string): Promise<Conversation | undefined> {
    return (await this.database()).get("conversations", id);
  }

  /**
   * Stores a conversation, merged with what another tab has stored of it; resolves with what the list shows of it.
   * `writing`: the turn that is still being written.
   */
  async put(conversation: Conversation, writing?: string): Promise<Summary> {
    const { store, done } = (await this.database()).transaction("conversations", "readwrite");
    const known = await store.get(conversation.id);
    const stored = known ? mergedWith(conversation, known) : conversation;
    // When there is no room, only the transaction says so: its request was merely aborted.
    void store.put(stored).catch(() => {});
    await done;
    const summary = summaryOf(stored);
    this.tell({ id: summary.id, summary, writing });
    return summary;
  }

  async remove(id: string): Promise<void> {
    await (await this.database()).delete("conversations", id);
    this.tell({ id });
  }

  async clear(): Promise<void> {
    await (await this.database()).clear("conversations");
    this.tell({});
  }

  private tell(change: Change): void {
    this.channel.postMessage(change);
  }
}
