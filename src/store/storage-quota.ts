// Limits the disk space that files and batches take together: their contents, and what each of them takes besides.

import { statfsSync, statSync, type Stats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { checkReserve, diskOf, type Disk } from "../domain/disk-reserve.ts";
import { SvcError } from "../domain/errors.ts";

const MIB = 2 ** 20;
/** What each file and each batch counts besides its contents: the least that one takes on a disk. */
export const ENTRY_BYTES = 4096;
/** Files that a scan of all contents looks at together. */
const FILES_AT_ONCE = 100;
/** After a scan, the next one waits this many times as long. */
const REST = 20;
/** Milliseconds after which a scan no longer counts on a folder that other servers write to. */
const STALE_MS = 5000;

interface Surroundings {
  /** Returns the bytes of the records of all files and batches. */
  readonly records?: () => number;
  readonly disk?: () => Disk;
  /** Returns monotonic milliseconds. */
  readonly now?: () => number;
}

export class StorageQuota {
  /** Bytes in use, as far as this server knows; undefined until the first scan. */
  private used: number | undefined;
  private looking: Promise<void> | undefined;
  /** Bytes claimed since the last scan began, which may not have seen them. */
  private claimed = 0;
  /** Whether this server removed content that another server may have written, so that `used` may be too low. */
  private hasReleased = false;
  /** Times of the last scan and of the next permitted one, in milliseconds. */
  private lookedAt = -Infinity;
  private restsUntil = -Infinity;
  private readonly records: () => number;
  private readonly disk: () => Disk;
  private readonly now: () => number;

  /** `folder` contains `files` and `batches`; `limit` is in bytes. `isShared`: whether other servers write there. */
  constructor(
    private readonly folder: string,
    private readonly limit: number,
    private readonly isShared: () => boolean = () => false,
    { records = () => 0, disk = () => diskOf(statfsSync(folder)), now = () => performance.now() }: Surroundings = {},
  ) {
    this.records = records;
    this.disk = disk;
    this.now = now;
  }

  /**
   * Counts bytes about to be written, after a scan if it is needed. Throws SvcError `storage_full` when the quota or disk
   * has no space for them, and errors of the system.
   */
  async claim(bytes: number): Promise<void> {
    const isDoubtful = this.hasReleased || this.total + bytes > this.limit || this.isStale();
    if (this.used === undefined || (isDoubtful && this.now() >= this.restsUntil)) await this.look();
    this.claimNow(bytes);
  }

  /** Like `claim`, but without a scan: right after another claim. */
  claimNow(bytes: number): void {
    checkReserve(
      this.disk(),
      bytes,
      (mib) =>
        `The disk that holds the server's data is full: ${mib} MiB of it must stay free. Free some space, then try again.`,
    );
    const used = this.total;
    if (used + bytes > this.limit) {
      const records = this.records();
      const [taken, ofRecords] = [used, records].map((size) => (size / MIB).toFixed(1));
      // Deleted files leave the records of their batches.
      const advice = records + bytes > this.limit ? "raise --data-size or lower --keep-batches" : "delete files first";
      const message = `Files and batches may take ${this.limit / MIB} MiB (--data-size) and take ${taken} MiB, ${ofRecords} MiB of it for records: ${advice}.`;
      throw new SvcError("storage_full", message);
    }
    this.take(bytes);
  }

  /** Counts bytes that are about to be written, even beyond the quota. */
  take(bytes: number): void {
    if (this.used !== undefined) this.used += bytes;
    this.claimed += bytes;
  }

  /** Subtracts a file that is about to be removed, and the bytes of its content unless that has another link. */
  release(path: string): void {
    const found = look(path);
    if (this.used === undefined || !found) return;
    this.used -= ENTRY_BYTES + (found.nlink === 1 ? found.size : 0);
    this.hasReleased ||= this.isShared();
  }

  /** Makes the next claim scan again, because another server on the folder may have written or removed something. */
  forget(): void {
    this.used = undefined;
  }

  private get total(): number {
    return (this.used ?? 0) + this.records();
  }

  private isStale(): boolean {
    return this.now() - this.lookedAt >= STALE_MS && this.isShared();
  }

  private look(): Promise<void> {
    return (this.looking ??= this.scan().finally(() => (this.looking = undefined)));
  }

  private async scan(): Promise<void> {
    const began = this.now();
    this.hasReleased = false;
    this.claimed = 0;
    const found = await bytesIn(this.folder);
    this.used = found + this.claimed;
    const ended = this.now();
    this.lookedAt = began;
    this.restsUntil = ended + REST * (ended - began);
  }
}

/** Returns the size of all files and batches; content that a file and a batch share counts once. */
async function bytesIn(folder: string): Promise<number> {
  const within = async (name: string) => (await readdir(join(folder, name))).map((entry) => join(folder, name, entry));
  const batches = await within("batches");
  const ofBatches = batches.flatMap((batch) => [join(batch, "input.jsonl"), join(batch, "output.jsonl")]);
  const files = await within("files");
  const paths = [...files, ...ofBatches];
  const seen = new Set<number>();
  let bytes = ENTRY_BYTES * (files.length + batches.length);
  for (let at = 0; at < paths.length; at += FILES_AT_ONCE) {
    // A path that cannot be read is not our content.
    const looks = paths.slice(at, at + FILES_AT_ONCE).map((path) => stat(path).catch(() => undefined));
    for (const found of await Promise.all(looks)) {
      if (!found || seen.has(found.ino)) continue;
      seen.add(found.ino);
      bytes += found.size;
    }
  }
  return bytes;
}

/** Returns undefined for a path that cannot be read, which is not our content. */
function look(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
