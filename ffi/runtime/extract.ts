// Writes the embedded files to a folder of their own, once, so that a library finds its siblings by name.

import { lstatSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import type { Embedded } from "./embedded.ts";

export interface Extracted {
  readonly directory: string;
  /** Set when the cache folder could not be used. */
  readonly warning?: string;
}

/**
 * Returns a folder with every embedded file in its full size. A complete folder is used as it is; a damaged one is
 * replaced; two processes may do this at once. When `cacheDir` cannot be written, a private folder under the system's
 * temporary one serves. Throws an Error naming --cache-dir when neither can be used.
 */
export function extract(embedded: Embedded, cacheDir: string): Extracted {
  const directory = join(cacheDir, `lib-${embedded.id}`);
  if (isComplete(embedded, directory)) return { directory };
  try {
    write(embedded, cacheDir, directory);
    return { directory };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const fallback = temporaryFolder();
    const other = join(fallback, `lib-${embedded.id}`);
    if (!isComplete(embedded, other)) {
      try {
        write(embedded, fallback, other);
      } catch {
        throw new Error(
          `The native libraries cannot be written to ${cacheDir} (${reason}). Name a folder with --cache-dir.`,
        );
      }
    }
    return {
      directory: other,
      warning: `${cacheDir} cannot be used (${reason}); the native libraries are in ${other}`,
    };
  }
}

function isComplete(embedded: Embedded, directory: string): boolean {
  return embedded.files.every(({ name, size }) => {
    try {
      return statSync(join(directory, name)).size === size;
    } catch {
      return false;
    }
  });
}

function write(embedded: Embedded, parent: string, directory: string): void {
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const temporary = mkdtempSync(join(parent, ".lib-"));
  try {
    const content = Bun.zstdDecompressSync(readFileSync(embedded.archive));
    let offset = 0;
    for (const { name, size } of embedded.files) {
      writeFileSync(join(temporary, name), content.subarray(offset, offset + size), { mode: 0o700 });
      offset += size;
    }
    moveInto(embedded, temporary, directory);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function moveInto(embedded: Embedded, temporary: string, directory: string): void {
  try {
    renameSync(temporary, directory);
  } catch (error) {
    // Another process was faster, or a damaged folder is in the way.
    if (isComplete(embedded, directory)) return;
    renameSync(directory, `${temporary}-damaged`);
    renameSync(temporary, directory);
    rmSync(`${temporary}-damaged`, { recursive: true, force: true });
    if (!isComplete(embedded, directory)) throw error;
  }
}

/** A folder under the system's temporary one that nobody else can have prepared. */
function temporaryFolder(): string {
  const { uid } = userInfo();
  const folder = join(tmpdir(), `svc-${uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o077) !== 0) {
    throw new Error(`${folder} is not a private folder of this user. Name a folder with --cache-dir.`);
  }
  return folder;
}
