// How much the contents of files and batches may take on disk together.

import { readdirSync, statfsSync, statSync, type Stats } from "node:fs";
import { join } from "node:path";
import { SvcError } from "../domain/errors.ts";

const MIB = 2 ** 20;
/** What stays free of the disk, for the database beside the contents and for other programs: the smaller of the two. */
const RESERVE = { bytes: 256 * MIB, share: 0.02 };

interface Disk {
  readonly freeBytes: number;
  readonly bytes: number;
}

export class StorageQuota {
  /** Bytes, at least those that there are: what is removed is not taken off before somebody needs the room. */
  private used: number | undefined;

  /** `folder` has `files` and `batches` in it; `limit`: in bytes. */
  constructor(
    private readonly folder: string,
    private readonly limit: number,
    private readonly disk: () => Disk = () => diskOf(folder),
  ) {}

  /** Counts bytes that are about to be written. Throws SvcError `storage_full` when there is no room for them, or on the disk. */
  claim(bytes: number): void {
    const { freeBytes, bytes: size } = this.disk();
    const reserve = Math.min(RESERVE.bytes, size * RESERVE.share);
    if (freeBytes - bytes < reserve) {
      const message = `The disk that holds the server's data is full but for ${(reserve / MIB).toFixed(1)} MiB, which stay free: make room, then try again.`;
      throw new SvcError("storage_full", message);
    }
    if (this.used === undefined || this.used + bytes > this.limit) this.used = bytesIn(this.folder);
    if (this.used + bytes > this.limit) {
      const taken = (this.used / MIB).toFixed(1);
      const message = `Files and batches may take ${this.limit / MIB} MiB (--data-size) and take ${taken} MiB: delete files first.`;
      throw new SvcError("storage_full", message);
    }
    this.used += bytes;
  }

  /** Counts bytes that are about to be written whether there is room for them or not. */
  take(bytes: number): void {
    if (this.used !== undefined) this.used += bytes;
  }

  /** Looks again before the next claim: another server on the folder may have written or removed something. */
  forget(): void {
    this.used = undefined;
  }
}

function diskOf(folder: string): Disk {
  const { bavail, blocks, bsize } = statfsSync(folder);
  return { freeBytes: bavail * bsize, bytes: blocks * bsize };
}

/** Size of all contents; one that is a file and in a batch counts once. */
function bytesIn(folder: string): number {
  const within = (name: string) => readdirSync(join(folder, name)).map((entry) => join(folder, name, entry));
  const ofBatches = within("batches").flatMap((batch) => [join(batch, "input.jsonl"), join(batch, "output.jsonl")]);
  const seen = new Set<number>();
  let bytes = 0;
  for (const path of [...within("files"), ...ofBatches]) {
    const found = look(path);
    if (!found || seen.has(found.ino)) continue;
    seen.add(found.ino);
    bytes += found.size;
  }
  return bytes;
}

/** What cannot be looked at is no content of ours. */
function look(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
