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
  readonly isRemoved: boolean;
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

  /** Stores a conversation, merged with what another tab has stored of it. */
  async put(conversation: Conversation): Promise<void> {
    const { store, done } = this.database.transaction("conversations", "readwrite");
    const known = await store.get(conversation.id);
    await store.put(known ? mergedWith(conversation, known) : conversation);
    await done;
    this.tell({ id: conversation.id, isRemoved: false });
  }

  async remove(id: string): Promise<void> {
    await this.database.delete("conversations", id);
    this.tell({ id, isRemoved: true });
  }

  async clear(): Promise<void> {
    await this.database.clear("conversations");
    this.tell({ isRemoved: true });
  }

  private tell(change: Change): void {
    this.channel.postMessage(change);
  }
}
