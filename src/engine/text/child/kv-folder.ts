// The folder of `--kv-dir`. Files are named after their content, so that several processes share the folder without
// coordination. Each removes the least recently used files when they exceed the limit; none relies on a file being
// there. Files with other names are never touched.

import { readdir, stat, unlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { systemErrorCode } from "../../../domain/system-error-code.ts";
import type { Prefix } from "../../../scheduler/kv/prefix-index.ts";
import { ABANDONED_MS, contentHash, fileBytes, readKvFile, readKvHeader, writeKvFile } from "./kv-file.ts";

interface KvFolderOptions {
  readonly path: string;
  /** Most bytes of all files together. */
  readonly limitBytes: number;
  /** 32 bytes: a hash of everything that the state depends on, except the tokens. */
  readonly fingerprint: Uint8Array;
}

/** The file that was written, and those that were removed to make space. */
interface Written {
  readonly name: string;
  readonly removed: readonly string[];
}

interface Listed {
  readonly name: string;
  readonly bytes: number;
  /** When it was last used, in milliseconds since 1970. */
  readonly at: number;
  readonly complete: boolean;
}

const NAME = /^[0-9a-f]{16}-[0-9a-f]{48}\.kv(\.[0-9a-f-]{36}\.part)?$/;

export class KvFolder {
  /** Start of the file names; other fingerprints have another. */
  private readonly prefix: string;

  constructor(private readonly options: KvFolderOptions) {
    this.prefix = Buffer.from(options.fingerprint).toString("hex").slice(0, 16);
  }

  /** Returns the name of a conversation's file. */
  nameOf(entry: Prefix): string {
    return `${this.prefix}-${contentHash(this.options.fingerprint, entry).slice(0, 48)}.kv`;
  }

  /** Reads the headers of the files with this fingerprint, most recently used first. Removes damaged files. */
  async index(): Promise<{ readonly entries: ReadonlyMap<string, Prefix>; readonly damaged: number }> {
    const entries = new Map<string, Prefix>();
    let damaged = 0;
    for (const { name, complete, at } of (await this.list()).toReversed()) {
      if (!complete && Date.now() - at > ABANDONED_MS) await this.remove(name);
      if (!complete || !name.startsWith(this.prefix)) continue;
      // A file that cannot be read is kept, so that the operator can examine it.
      const entry = await readKvHeader(this.pathOf(name), this.options.fingerprint).catch(() => null);
      if (entry && this.nameOf(entry) === name) entries.set(name, entry);
      else if (entry !== null) {
        damaged++;
        await this.remove(name);
      }
    }
    return { entries, damaged };
  }

  /**
   * Writes a conversation that was last used at `usedAt`. Writes nothing when it alone exceeds the limit ("too large"), or
   * when only files used later could make space ("outdated"). Throws the system's error, and then leaves no file.
   */
  async write(
    entry: Prefix,
    parts: readonly Uint8Array[],
    usedAt = Date.now(),
  ): Promise<Written | "too large" | "outdated"> {
    const bytes = fileBytes(entry, parts);
    if (bytes > this.options.limitBytes) return "too large";
    const name = this.nameOf(entry);
    // Another process may have used it later.
    const found = await stat(this.pathOf(name)).catch(() => undefined);
    if (found && (await this.touch(name, Math.max(found.mtimeMs, usedAt)))) return { name, removed: [] };
    const removed = await this.ensureSpace(bytes, usedAt);
    if (!removed) return "outdated";
    const path = this.pathOf(name);
    const temporary = `${path}.${crypto.randomUUID()}.part`;
    await writeKvFile(path, temporary, this.options.fingerprint, entry, parts);
    await this.touch(name, usedAt);
    return { name, removed };
  }

  /**
   * Returns the state of exactly this conversation; undefined when the file is missing or damaged. Removes a damaged
   * file.
   */
  async read(entry: Prefix): Promise<Uint8Array[] | undefined> {
    const name = this.nameOf(entry);
    const parts = await readKvFile(this.pathOf(name), this.options.fingerprint, entry).catch(ignoreMissing);
    if (parts) await this.touch(name);
    else if (parts === undefined) await this.remove(name);
    return parts ?? undefined;
  }

  async remove(name: string): Promise<void> {
    // Another process may have removed it first.
    await unlink(this.pathOf(name)).catch(() => {});
  }

  private pathOf(name: string): string {
    return join(this.options.path, name);
  }

  /** Marks a file as used; returns false when it is not there. */
  private async touch(name: string, usedAt = Date.now()): Promise<boolean> {
    const at = new Date(usedAt);
    return utimes(this.pathOf(name), at, at).then(
      () => true,
      () => false,
    );
  }

  /** Lists the files of `--kv-dir` whose names are ours, least recently used first. */
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

  /** Removes files until there is space, and returns them; undefined, and removes none, if one was used after `usedAt`. */
  private async ensureSpace(bytes: number, usedAt: number): Promise<string[] | undefined> {
    const listed = await this.list();
    let held = listed.reduce((sum, file) => sum + file.bytes, 0);
    const removed: string[] = [];
    for (const { name, bytes: freed, complete, at } of listed) {
      if (held + bytes <= this.options.limitBytes) break;
      // Another process is writing it.
      if (!complete && Date.now() - at <= ABANDONED_MS) continue;
      if (complete && at > usedAt) return undefined;
      removed.push(name);
      held -= freed;
    }
    for (const name of removed) await this.remove(name);
    return removed;
  }
}

/** Returns null when the file does not exist any more, which is not an error. */
function ignoreMissing(error: unknown): null {
  if (systemErrorCode(error) === "ENOENT") return null;
  throw error;
}
