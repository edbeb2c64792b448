// Stores conversations in the browser's database; they never leave the browser.

import { openDB, type DBSchema, type IDBPDatabase } from "idb";
import type { Conversation } from "../logic/conversation.ts";

/** A conversation as the list shows it. */
export interface Summary {
  readonly id: string;
  readonly title: string;
  readonly updatedAt: number;
}

interface Schema extends DBSchema {
  conversations: { key: string; value: Conversation; indexes: { list: [number, string] } };
}

export class History {
  private constructor(
    private readonly database: IDBPDatabase<Schema>,
    private readonly channel: BroadcastChannel,
  ) {}

  /** Opens the database; throws when there is none. `changed` is called when another tab has stored something. */
  static async open(changed: () => void): Promise<History> {
    const database = await openDB<Schema>("svc", 1, {
      upgrade(made) {
        made.createObjectStore("conversations", { keyPath: "id" }).createIndex("list", ["updatedAt", "title"]);
      },
    });
    const channel = new BroadcastChannel("svc.history");
    channel.addEventListener("message", changed);
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

  async put(conversation: Conversation): Promise<void> {
    await this.database.put("conversations", conversation);
    this.channel.postMessage("");
  }

  async remove(id: string): Promise<void> {
    await this.database.delete("conversations", id);
    this.channel.postMessage("");
  }

  async clear(): Promise<void> {
    await this.database.clear("conversations");
    this.channel.postMessage("");
  }
}
