// What holds prompts is open to its owner alone, also where an earlier version or another program made it.

import { chmodSync, closeSync, mkdirSync, openSync, statSync } from "node:fs";

/** Makes sure of a folder. Throws what the system throws. */
export function ownFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  tighten(path);
}

/** Makes sure of a file. Throws what the system throws. */
export function ownFile(path: string): void {
  closeSync(openSync(path, "a", 0o600));
  tighten(path);
}

/** Takes all rights from others, if something is there. What is not ours to change stays as its owner wants it. */
export function tighten(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o077) === 0) return;
  try {
    chmodSync(path, mode & 0o700);
  } catch {
    // Another user's, or a file system without rights.
  }
}
