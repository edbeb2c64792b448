// The folder of `--kv-dir`: files named after what is in them, so that several processes can share it without talking to
// each other. Each removes what was not used for the longest time where there are too many bytes, and none relies on a file
// being there. Only files with such names are ever touched.

import { readdir, stat, unlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { contentHash, fileBytes, readKvFile, readKvHeader, writeKvFile, type KvEntry } from "./kv-file.ts";

export interface KvFolderOptions {
  readonly path: string;
  /** Bytes that all files may take together. */
  readonly limitBytes: number;
  /** 32 bytes that stand for everything but the tokens that the state depends on. */
  readonly fingerprint: Uint8Array;
}

/** What was written and what had to make room for it. */
export interface Written {
  readonly name: string;
  readonly removed: readonly string[];
}

interface Listed {
  readonly name: string;
  readonly bytes: number;
  /** When it was last written or used, in milliseconds. */
  readonly at: number;
  readonly complete: boolean;
}

const NAME = /^[0-9a-f]{16}-[0-9a-f]{48}\.kv(\.[0-9a-f-]{36}\.part)?$/;
/** A file that nobody wrote to for so long will not be finished. */
const ABANDONED_MS = 10 * 60_000;

export class KvFolder {
  /** Files of others have other beginnings. */
  private readonly prefix: string;

  constructor(private readonly options: KvFolderOptions) {
    this.prefix = Buffer.from(options.fingerprint).toString("hex").slice(0, 16);
  }

  /** Name of the file for a conversation. */
  nameOf(entry: KvEntry): string {
    return `${this.prefix}-${contentHash(this.options.fingerprint, entry).slice(0, 48)}.kv`;
  }

  /** What is there of the same fingerprint, by file, the last used first; reads headers alone. What is damaged is removed. */
  async index(): Promise<{ readonly entries: ReadonlyMap<string, KvEntry>; readonly damaged: number }> {
    const entries = new Map<string, KvEntry>();
    let damaged = 0;
    for (const { name, complete, at } of (await this.list()).toReversed()) {
      if (!complete && Date.now() - at > ABANDONED_MS) await this.remove(name);
      if (!complete || !name.startsWith(this.prefix)) continue;
      // What cannot be read is left for whoever looks into it.
      const entry = await readKvHeader(this.pathOf(name), this.options.fingerprint).catch(() => null);
      if (entry && this.nameOf(entry) === name) entries.set(name, entry);
      else if (entry !== null) {
        damaged++;
        await this.remove(name);
      }
    }
    return { entries, damaged };
  }

  /** Undefined when it is larger than all files may be together. Throws the system's error, and leaves no file then. */
  async write(entry: KvEntry, parts: readonly Uint8Array[]): Promise<Written | undefined> {
    const bytes = fileBytes(entry, parts);
    if (bytes > this.options.limitBytes) return undefined;
    const name = this.nameOf(entry);
    if (await this.touch(name)) return { name, removed: [] };
    const removed = await this.ensureSpace(bytes);
    const path = this.pathOf(name);
    const temporary = `${path}.${crypto.randomUUID()}.part`;
    await writeKvFile(path, temporary, this.options.fingerprint, entry, parts);
    return { name, removed };
  }

  /** The state of exactly this conversation; undefined when it is gone or damaged, and the file is gone then. */
  async read(entry: KvEntry): Promise<Uint8Array[] | undefined> {
    const name = this.nameOf(entry);
    const parts = await readKvFile(this.pathOf(name), this.options.fingerprint, entry).catch(ignoreMissing);
    if (parts) await this.touch(name);
    else if (parts === undefined) await this.remove(name);
    return parts ?? undefined;
  }

  async remove(name: string): Promise<void> {
    // Another process may have been faster.
    await unlink(this.pathOf(name)).catch(() => {});
  }

  private pathOf(name: string): string {
    return join(this.options.path, name);
  }

  /** Marks a file as used; false when it is not there. */
  private async touch(name: string): Promise<boolean> {
    const now = new Date();
    return utimes(this.pathOf(name), now, now).then(
      () => true,
      () => false,
    );
  }

  /** Our files, the one that was not used for the longest time first. */
  private async list(): Promise<Listed[]> {
    const names = (await readdir(this.options.path)).filter((name) => NAME.test(name));
    const listed = await Promise.all(
      names.map(async (name) => {
        const found = await stat(this.pathOf(name)).catch(() => undefined);
        const complete = !name.endsWith(".part");
        return found?.isFile() ? [{ name, bytes: found.size, at: found.mtimeMs, complete }] : [];
      }),
    );
    return listed.flat().toSorted((a, b) => a.at - b.at);
  }

  private async ensureSpace(bytes: number): Promise<string[]> {
    const listed = await this.list();
    let held = listed.reduce((sum, file) => sum + file.bytes, 0);
    const removed: string[] = [];
    for (const { name, bytes: freed, complete, at } of listed) {
      if (held + bytes <= this.options.limitBytes) break;
      // Somebody is writing it.
      if (!complete && Date.now() - at <= ABANDONED_MS) continue;
      await this.remove(name);
      removed.push(name);
      held -= freed;
    }
    return removed;
  }
}

/** null: it is not there any more, which is nobody's fault. */
function ignoreMissing(error: unknown): null {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
  throw error;
}
