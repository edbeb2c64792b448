// Disk space that svc leaves free for its databases and for other programs.

import { SvcError } from "./errors.ts";

const MIB = 2 ** 20;
const RESERVE = { bytes: 256 * MIB, share: 0.02 };

/** A file system: bytes that may still be written, and all bytes. */
export interface Disk {
  readonly freeBytes: number;
  readonly bytes: number;
}

/** What the system says of a file system, in blocks. */
interface Blocks {
  readonly bavail: number;
  readonly blocks: number;
  readonly bsize: number;
}

export const diskOf = ({ bavail, blocks, bsize }: Blocks): Disk => ({
  freeBytes: bavail * bsize,
  bytes: blocks * bsize,
});

/**
 * Throws SvcError `storage_full` when `bytes` more would leave less of the disk free than a fixed number, or than a share
 * if that is less. `message`: returns the sentence for these MiB that must stay free.
 */
export function checkReserve(disk: Disk, bytes: number, message: (mib: string) => string): void {
  const reserve = Math.min(RESERVE.bytes, disk.bytes * RESERVE.share);
  if (disk.freeBytes - bytes < reserve) throw new SvcError("storage_full", message((reserve / MIB).toFixed(1)));
}
