// Disk space that svc leaves free for its databases and for other programs.

const RESERVE = { bytes: 256 * 2 ** 20, share: 0.02 };

/** A file system: bytes that may still be written, and all bytes. */
export interface Disk {
  readonly freeBytes: number;
  readonly bytes: number;
}

/** Returns the bytes of a disk to keep free: a fixed number, or a share if that is less. */
export const diskReserve = ({ bytes }: Pick<Disk, "bytes">): number => Math.min(RESERVE.bytes, bytes * RESERVE.share);
