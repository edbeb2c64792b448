// Gives content a second name, also where the file system has no hard links.

import { closeSync, copyFileSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { systemErrorCode } from "../domain/system-error-code.ts";

/** Codes with which systems say that a path can have no hard link there. */
const NO_LINKS: ReadonlySet<string | undefined> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "EXDEV", "ENOSYS"]);

/**
 * Links `to` to the content at `from`, else copies the content, completely or not at all; then `claim` is called with
 * its bytes before they are written. Throws system errors, and what `claim` throws.
 */
export function linkOrCopy(from: string, to: string, claim: (bytes: number) => void): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!NO_LINKS.has(systemErrorCode(error))) throw error;
    claim(statSync(from).size);
    copy(from, to);
  }
}

function copy(from: string, to: string): void {
  const part = `${to}.part`;
  try {
    copyFileSync(from, part);
    const handle = openSync(part, "r+");
    // A link to content that is on the disk needs no such wait.
    fsyncSync(handle);
    closeSync(handle);
    renameSync(part, to);
  } finally {
    rmSync(part, { force: true });
  }
}
