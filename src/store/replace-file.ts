// Writes files that others read at any time.

import { renameSync, rmSync, writeFileSync } from "node:fs";

/** Writes the file completely or not at all. Throws what the system throws. */
export function replaceFile(path: string, content: string | Uint8Array): void {
  // Where others may write as well, a link of theirs must not be at this name.
  const temporary = `${path}.${crypto.randomUUID()}.new`;
  try {
    writeFileSync(temporary, content, { flag: "wx" });
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}
