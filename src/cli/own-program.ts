// How to start this program again.

import { existsSync, readlinkSync } from "node:fs";

/** On Linux, the file that this process runs, even when an update has replaced it on disk. */
const RUNNING = "/proc/self/exe";

/** Returns the command that starts this program: the executable, or Bun with the entry file. */
export const ownProgram = (): [executable: string, ...entry: string[]] =>
  Bun.isStandaloneExecutable ? [ownExecutable()] : [process.execPath, Bun.main];

/** Returns the command that starts this program as an engine. */
export const engineCommand = (kind: string): string[] => [...ownProgram(), "__engine", kind];

/**
 * Returns the executable by the name that process lists show, as long as that name is still the same file. Compares
 * names only: an emulator's files are not the ones that it pretends to have.
 */
function ownExecutable(): string {
  // Elsewhere, another user could put a program at this path.
  const own = process.platform === "linux" && existsSync(RUNNING) ? readlinkSync(RUNNING) : process.execPath;
  return own === process.execPath ? process.execPath : RUNNING;
}
