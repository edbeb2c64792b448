// The files of the disk cache. They are written and read while the engine decodes, one write at a time. Until the bytes
// of a file are written, this class alone owns them. It reports to the scheduler's disk cache which files there are.

import { release } from "../../../../ffi/llama/allocate.ts";
import { systemErrorCode } from "../../../domain/system-error-code.ts";
import type { DiskCache, DiskId } from "../../../scheduler/kv/disk-cache.ts";
import type { CachedPrefix, Prefix } from "../../../scheduler/kv/prefix-index.ts";
import type { OnDisk } from "../protocol.ts";
import type { KvFolder } from "./kv-folder.ts";

interface KvDiskListener {
  /** Called when the counts have changed. */
  changed(): void;
  warn(text: string): void;
}

/** Most bytes that may wait to be written. More are lost, except for a conversation that waits alone. */
const BYTES_IN_FLIGHT = 512 << 20;

export class KvDisk {
  /**
   * Tokens on disk that this model can restore; tokens written so far, read back so far, and lost: to errors, too large
   * for the folder, or too many at a time for the disk.
   */
  readonly counts = { held: 0, written: 0, restored: 0, failed: 0 };
  private readonly files = new Map<DiskId, { readonly name: string; readonly entry: Prefix }>();
  private readonly byName = new Map<string, DiskId>();
  private nextId = 1;
  private bytesInFlight = 0;
  private writing: Promise<void> = Promise.resolve();
  private readonly reasons = new Set<string>();

  constructor(
    private readonly folder: KvFolder,
    private readonly cache: Pick<DiskCache, "add" | "remove">,
    private readonly listener: KvDiskListener,
    private readonly mostInFlight = BYTES_IN_FLIGHT,
  ) {}

  /** Lists the existing files. */
  async open(): Promise<OnDisk> {
    const { entries, damaged } = await this.folder.index().catch((error) => {
      this.warnOnce(`the folder cannot be read (${reasonOf(error)})`);
      return { entries: new Map<string, Prefix>(), damaged: 0 };
    });
    for (const [name, entry] of entries) this.cache.add(this.add(name, entry));
    return { conversations: entries.size, tokens: this.counts.held, damaged };
  }

  /**
   * Takes over the bytes of a conversation, last used `idleMs` milliseconds ago, writes them after those already waiting,
   * and frees their memory.
   */
  write(entry: Prefix, parts: readonly Uint8Array[], idleMs = 0): void {
    const usedAt = Date.now() - idleMs;
    const bytes = parts.reduce((sum, part) => sum + part.length, 0);
    if (this.bytesInFlight > 0 && this.bytesInFlight + bytes > this.mostInFlight) {
      parts.forEach(release);
      return this.fail(entry, "the disk is too slow for what must be written");
    }
    this.bytesInFlight += bytes;
    this.writing = this.writing.then(async () => {
      await this.writeFile(entry, parts, usedAt);
      parts.forEach(release);
      this.bytesInFlight -= bytes;
    });
  }

  /** Reads a conversation. `ended` receives its parts, or undefined if it could not be read. */
  async read(id: DiskId, ended: (parts: Uint8Array[] | undefined) => void): Promise<void> {
    const file = this.files.get(id);
    const parts = file && (await this.readFile(file.entry));
    if (parts) this.counts.restored += file.entry.ids.length;
    else this.drop(id);
    ended(parts);
    this.listener.changed();
  }

  /** Deletes a file that is no longer useful. */
  delete(id: DiskId): void {
    const file = this.files.get(id);
    if (!file) return;
    this.drop(id);
    this.writing = this.writing.then(() => this.folder.remove(file.name));
  }

  /** Counts a conversation that was lost. */
  fail(entry: Prefix, reason: string): void {
    this.counts.failed += entry.ids.length;
    this.warnOnce(reason);
    this.listener.changed();
  }

  /** Resolves when everything is written. */
  settled(): Promise<void> {
    return this.writing;
  }

  private async writeFile(entry: Prefix, parts: readonly Uint8Array[], usedAt: number): Promise<void> {
    try {
      const written = await this.folder.write(entry, parts, usedAt);
      if (written === "too large") return this.fail(entry, "a conversation is larger than --kv-dir-size");
      if (written === "outdated") return;
      for (const name of written.removed) this.gone(name);
      this.counts.written += entry.ids.length;
      this.cache.add(this.add(written.name, entry));
      this.listener.changed();
    } catch (error) {
      this.fail(entry, `writing failed (${reasonOf(error)})`);
    }
  }

  private async readFile(entry: Prefix): Promise<Uint8Array[] | undefined> {
    try {
      const parts = await this.folder.read(entry);
      if (!parts) this.fail(entry, "a conversation's file is missing or damaged");
      return parts;
    } catch (error) {
      this.fail(entry, `reading failed (${reasonOf(error)})`);
      return undefined;
    }
  }

  private add(name: string, entry: Prefix): CachedPrefix {
    const known = this.byName.get(name);
    const id = known ?? this.nextId++;
    if (known === undefined) {
      this.files.set(id, { name, entry });
      this.byName.set(name, id);
      this.counts.held += entry.ids.length;
    }
    return { id, ...entry };
  }

  private gone(name: string): void {
    const id = this.byName.get(name);
    if (id === undefined) return;
    this.drop(id);
    this.cache.remove(id);
  }

  private drop(id: DiskId): void {
    const file = this.files.get(id);
    if (!file) return;
    this.files.delete(id);
    this.byName.delete(file.name);
    this.counts.held -= file.entry.ids.length;
  }

  private warnOnce(reason: string): void {
    if (this.reasons.has(reason)) return;
    this.reasons.add(reason);
    this.listener.warn(`conversations on disk: ${reason}; reported once`);
  }
}

const reasonOf = (error: unknown): string => systemErrorCode(error) ?? "unknown reason";
