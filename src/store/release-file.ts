// Downloads a file of an svc release: complete and with the right checksum, or not at all.

import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { download } from "./models/download.ts";
import { writing } from "./models/part-file.ts";
import { defaultPatience, type Patience } from "./models/retry.ts";
import { awaitLock, tryLock } from "./process-lock.ts";

export interface ReleaseFile {
  readonly url: string;
  /** Absent if unknown. */
  readonly bytes?: number;
  readonly sha256: string;
}

export interface FetchOptions {
  readonly userAgent: string;
  readonly signal: AbortSignal;
  /** Called often with the bytes received so far. */
  readonly progress?: (received: number) => void;
  /** Called with messages for the user, such as lost connections and waits. */
  readonly note: (text: string) => void;
  readonly patience?: Patience;
}

/**
 * Downloads the file to `target`, unless `isThere` reports that another process did so meanwhile: of several, one
 * downloads and the others wait. After a failure, partial data is kept. Throws PullError, or the signal's reason.
 */
export async function fetchReleaseFile(
  { url, bytes, sha256 }: ReleaseFile,
  target: string,
  isThere: () => boolean,
  { userAgent, signal, progress = () => {}, note, patience = defaultPatience }: FetchOptions,
): Promise<void> {
  const { origin, pathname } = new URL(url);
  const path = pathname.slice(pathname.lastIndexOf("/") + 1);
  const remote = {
    path,
    url,
    subject: path,
    ...(bytes !== undefined && { bytes }),
    checksum: { algorithm: "sha256", hex: sha256 },
    isPinned: true,
  } as const;
  const lock = `${target}.lock`;
  const takeLock = () =>
    writing(lock, async () => {
      mkdirSync(dirname(lock), { recursive: true, mode: 0o700 });
      return tryLock(lock);
    });
  const unlock = await awaitLock(takeLock, signal);
  try {
    if (isThere()) return;
    await download({ endpoint: origin, userAgent }, remote, target, {
      signal,
      progress,
      note,
      patience,
      check: () => {},
    });
  } finally {
    unlock();
  }
}
