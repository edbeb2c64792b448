// Private folders for temporary files. Those of killed processes are removed by later ones.

import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { systemErrorCode } from "../domain/system-error-code.ts";
import { tryLock } from "./process-lock.ts";

/** What the folders are for. The host's speech programs make those of `say`. */
const KINDS = ["documents", "pictures", "recordings", "stdin", "launch", "say"] as const;
export type FolderKind = (typeof KINDS)[number];
const NAME = new RegExp(`^svc-(?:${KINDS.join("|")})-(\\d+)-`);
/** File in a folder that its process has locked. */
const LOCK = "lock";

/** The folders of this process. Keeps a reference to their locks, because a collected lock is a released one. */
const FOLDERS = new Map<string, (() => void) | undefined>();

export class TemporaryFolder {
  readonly path: string;

  /** Creates the folder with mode 0700 and an unpredictable name. Throws the system's error. */
  constructor(parent: string, kind: FolderKind) {
    this.path = mkdtempSync(join(parent, `svc-${kind}-${process.pid}-`));
    // A container that shares the parent has process ids of its own.
    const unlock = attempted(() => tryLock(join(this.path, LOCK)));
    FOLDERS.set(this.path, unlock);
  }

  /** Whether nobody has removed it; some systems remove old files from time to time. */
  get isThere(): boolean {
    return existsSync(this.path);
  }

  remove(): void {
    FOLDERS.get(this.path)?.();
    FOLDERS.delete(this.path);
    rmSync(this.path, { recursive: true, force: true });
  }
}

/**
 * Deletes folders below `parent` that killed processes of this user left behind, which may have had this process's id,
 * as in containers. Leaves what cannot be read or deleted.
 */
export function removeAbandoned(parent: string): void {
  // An unusable parent is reported to the first client that uploads something.
  for (const name of attempted(() => readdirSync(parent)) ?? []) {
    const [, pid] = NAME.exec(name) ?? [];
    const path = join(parent, name);
    if (pid === undefined || FOLDERS.has(path) || isOther(Number(pid))) continue;
    attempted(() => {
      if (lstatSync(path).uid !== (process.getuid?.() ?? 0) || isLocked(join(path, LOCK))) return;
      rmSync(path, { recursive: true, force: true });
    });
  }
}

function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  const unlock = tryLock(path);
  unlock?.();
  return unlock === undefined;
}

function attempted<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Returns whether this is the id of another process that runs. */
function isOther(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemErrorCode(error) !== "ESRCH";
  }
}
