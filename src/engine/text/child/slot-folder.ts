// The folder of `--slot-save-path`: slots under names that clients choose, in files like those of `--kv-dir`.

import { lstat, readdir, statfs, unlink } from "node:fs/promises";
import { join } from "node:path";
import { checkReserve, diskOf } from "../../../domain/disk-reserve.ts";
import { SvcError } from "../../../domain/errors.ts";
import { systemErrorCode } from "../../../domain/system-error-code.ts";
import type { Prefix } from "../../../scheduler/kv/prefix-index.ts";
import { ABANDONED_MS, fileBytes, readKvFile, readKvHeader, writeKvFile } from "./kv-file.ts";

/** Name of an incomplete file; no slot's name begins with a dot. */
const PART = /^\.[0-9a-f-]{36}\.part$/;

export class SlotFolder {
  /**
   * `fingerprint`: 32 bytes, a hash of everything that the state depends on, except the tokens. `disk`: returns the disk
   * of the folder.
   */
  constructor(
    private readonly path: string,
    private readonly fingerprint: Uint8Array,
    private readonly disk = async () => diskOf(await statfs(path)),
  ) {}

  /** Removes what dead processes have left behind, as far as the folder lets it. */
  async removeAbandoned(): Promise<void> {
    for (const name of await readdir(this.path).catch(() => [])) {
      if (!PART.test(name)) continue;
      const path = join(this.path, name);
      const found = await lstat(path).catch(() => {});
      if (found && Date.now() - found.mtimeMs > ABANDONED_MS) await unlink(path).catch(() => {});
    }
  }

  /**
   * Writes a file, replacing one of that name. Throws SvcError `storage_full`, also if the disk would keep less than its
   * reserve, or `storage_unavailable`.
   */
  async write(name: string, entry: Prefix, parts: readonly Uint8Array[]): Promise<void> {
    checkReserve(
      await orStorageError(this.disk()),
      fileBytes(entry, parts),
      (mib) => `The disk with the folder of --slot-save-path is full: ${mib} MiB of it must stay free.`,
    );
    const temporary = join(this.path, `.${crypto.randomUUID()}.part`);
    await orStorageError(writeKvFile(join(this.path, name), temporary, this.fingerprint, entry, parts));
  }

  /** Returns what a file holds. Throws SvcError `invalid_value` if it cannot be restored, or `storage_unavailable`. */
  header(name: string): Promise<Prefix> {
    return this.reading(name, (path) => readKvHeader(path, this.fingerprint));
  }

  /** Returns the state in a file, of exactly these tokens. Throws as `header` does. */
  read(name: string, entry: Prefix): Promise<Uint8Array[]> {
    return this.reading(name, (path) => readKvFile(path, this.fingerprint, entry));
  }

  private async reading<T>(name: string, read: (path: string) => Promise<T | undefined>): Promise<T> {
    const path = join(this.path, name);
    const found = await orStorageError(lstat(path).catch(ignoreMissing));
    // A link may point outside the folder.
    if (!found?.isFile()) throw badFile("names no saved slot");
    const content = await orStorageError(read(path));
    if (content !== undefined) return content;
    throw badFile("is damaged, or was saved with another model, another version, or other options of the KV cache");
  }
}

/** Returns the refusal of a file that cannot be restored. */
export const badFile = (why: string): SvcError =>
  new SvcError("invalid_value", `'filename': the file ${why}.`, { param: "filename" });

const FULL: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT"]);

/** ENAMETOOLONG: the name may be longer than the file system allows. */
function ignoreMissing(error: unknown): undefined {
  const code = systemErrorCode(error);
  if (code !== "ENOENT" && code !== "ENAMETOOLONG") throw error;
}

async function orStorageError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === undefined) throw error;
    if (FULL.has(code)) throw new SvcError("storage_full", "The disk with the folder of --slot-save-path is full.");
    throw new SvcError("storage_unavailable", `The folder of --slot-save-path cannot be used: ${code}.`);
  }
}
