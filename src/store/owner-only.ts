// Restricts files that contain prompts to their owner, even if an earlier version or another program created them.

import { chmodSync, closeSync, mkdirSync, openSync, statSync } from "node:fs";

/** Creates a folder if missing and restricts it to its owner. Throws what the system throws. */
export function ownFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  tighten(path);
}

/** Creates a file if missing and restricts it to its owner. Throws what the system throws. */
export function ownFile(path: string): void {
  closeSync(openSync(path, "a", 0o600));
  tighten(path);
}

/** Removes the permissions of other users from a path, if it exists. Leaves it unchanged if we may not change it. */
export function tighten(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o077) === 0) return;
  try {
    chmodSync(path, mode & 0o700);
  } catch {
    // The path belongs to another user, or the file system has no permissions.
  }
}
