// Moves what leaves host memory to disk and back, beside the decode loop: one file is written at a time, from bytes that
// nobody else holds, and the scheduler is told when something is there.

import { release } from "../../../../ffi/llama/allocate.ts";
import type { SavedId } from "../../../scheduler/kv/host-entries.ts";
import type { Stored, StoredId } from "../../../scheduler/kv/prefix-index.ts";
import type { KvEntry } from "./kv-file.ts";
import type { KvFolder } from "./kv-folder.ts";

/** Who wants to know what became of it. */
export interface KvDiskListener {
  stored(stored: Stored): void;
  unstored(id: StoredId): void;
  /** The parts, or undefined when they could not be read. */
  loaded(saved: SavedId, parts: Uint8Array[] | undefined): void;
  /** The counts are others now. */
  changed(): void;
  warn(text: string): void;
}

export interface KvDiskCounts {
  /** Tokens on disk that this model can go on from. */
  readonly held: number;
  /** Tokens that were written, read back and given up because of an error or for lack of room, in all. */
  readonly written: number;
  readonly restored: number;
  readonly failed: number;
}

/** What is to be written waits in memory: beyond this, one conversation more is given up rather than kept waiting. */
const BYTES_IN_FLIGHT = 512 << 20;

export class KvDisk {
  private readonly files = new Map<StoredId, { readonly name: string; readonly entry: KvEntry }>();
  private readonly byName = new Map<string, StoredId>();
  private nextId = 1;
  private counted = { held: 0, written: 0, restored: 0, failed: 0 };
  private bytesInFlight = 0;
  private writing: Promise<void> = Promise.resolve();
  private readonly reasons = new Set<string>();

  constructor(
    private readonly folder: KvFolder,
    private readonly listener: KvDiskListener,
    private readonly mostInFlight = BYTES_IN_FLIGHT,
  ) {}

  get counts(): KvDiskCounts {
    return this.counted;
  }

  /** Looks what is there. Resolves with how much, and how many damaged files were removed. */
  async open(): Promise<{ readonly conversations: number; readonly tokens: number; readonly damaged: number }> {
    const { entries, damaged } = await this.folder.index().catch((error) => {
      this.warnOnce(`the folder cannot be read (${codeOf(error)})`);
      return { entries: new Map<string, KvEntry>(), damaged: 0 };
    });
    for (const [name, entry] of entries) this.listener.stored(this.add(name, entry));
    return { conversations: entries.size, tokens: this.counted.held, damaged };
  }

  /** Takes bytes that nobody else uses any more, writes them when it is their turn and gives their memory back. */
  store(entry: KvEntry, parts: readonly Uint8Array[]): void {
    const bytes = parts.reduce((sum, part) => sum + part.length, 0);
    if (this.bytesInFlight > 0 && this.bytesInFlight + bytes > this.mostInFlight) {
      parts.forEach(release);
      return this.fail(entry, "the disk is slower than what is to be written to it");
    }
    this.bytesInFlight += bytes;
    this.writing = this.writing.then(async () => {
      await this.write(entry, parts);
      parts.forEach(release);
      this.bytesInFlight -= bytes;
    });
  }

  /** Reads a conversation; the listener hears of it in any case. */
  async load(id: StoredId, saved: SavedId): Promise<void> {
    const file = this.files.get(id);
    const parts = file && (await this.read(file.entry));
    if (parts) this.counted.restored += file.entry.ids.length;
    else this.drop(id);
    this.listener.loaded(saved, parts);
    this.listener.changed();
  }

  /** Removes a file that is of no more use. */
  erase(id: StoredId): void {
    const file = this.files.get(id);
    if (!file) return;
    this.drop(id);
    this.writing = this.writing.then(() => this.folder.remove(file.name));
  }

  /** What could not even be given to this. */
  fail(entry: KvEntry, reason: string): void {
    this.counted.failed += entry.ids.length;
    this.warnOnce(reason);
    this.listener.changed();
  }

  /** Resolves when everything is written. */
  settled(): Promise<void> {
    return this.writing;
  }

  private async write(entry: KvEntry, parts: readonly Uint8Array[]): Promise<void> {
    try {
      const written = await this.folder.write(entry, parts);
      if (!written) return this.fail(entry, "a conversation is larger than --kv-dir-size");
      for (const name of written.removed) this.gone(name);
      this.counted.written += entry.ids.length;
      this.listener.stored(this.add(written.name, entry));
      this.listener.changed();
    } catch (error) {
      this.fail(entry, `writing failed (${codeOf(error)})`);
    }
  }

  private async read(entry: KvEntry): Promise<Uint8Array[] | undefined> {
    try {
      const parts = await this.folder.read(entry);
      if (!parts) this.fail(entry, "a conversation is gone or damaged");
      return parts;
    } catch (error) {
      this.fail(entry, `reading failed (${codeOf(error)})`);
      return undefined;
    }
  }

  private add(name: string, entry: KvEntry): Stored {
    const known = this.byName.get(name);
    const id = known ?? this.nextId++;
    if (known === undefined) {
      this.files.set(id, { name, entry });
      this.byName.set(name, id);
      this.counted.held += entry.ids.length;
    }
    return { id, ...entry };
  }

  private gone(name: string): void {
    const id = this.byName.get(name);
    if (id === undefined) return;
    this.drop(id);
    this.listener.unstored(id);
  }

  private drop(id: StoredId): void {
    const file = this.files.get(id);
    if (!file) return;
    this.files.delete(id);
    this.byName.delete(file.name);
    this.counted.held -= file.entry.ids.length;
  }

  private warnOnce(reason: string): void {
    if (this.reasons.has(reason)) return;
    this.reasons.add(reason);
    this.listener.warn(`conversations on disk: ${reason}; told once`);
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
