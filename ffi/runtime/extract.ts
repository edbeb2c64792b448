// Writes the embedded files to a folder of their own, once, so that a library finds its siblings by name.

import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import type { Embedded } from "./embedded.ts";
import { forbidsPrograms } from "./mounts.ts";

export interface Extracted {
  readonly directory: string;
  /** Set when the cache folder could not be used. */
  readonly warning?: string;
}

const TEMPORARY = ".lib-";
const STALE_MS = 3_600_000;

/**
 * Returns a folder with every embedded file in its full size. A complete folder is used as it is; a damaged one is
 * replaced; several processes may do this at once. When nothing can be written to `cacheDir` or loaded from it, a private
 * folder below `temporary` serves. Throws an Error naming --cache-dir when neither can be used.
 */
export function extract(embedded: Embedded, cacheDir: string, temporary = tmpdir()): Extracted {
  try {
    return { directory: provide(embedded, cacheDir) };
  } catch (error) {
    const problem = `${cacheDir} cannot hold the native libraries (${reasonOf(error)})`;
    try {
      const directory = provide(embedded, privateFolder(temporary));
      return { directory, warning: `${problem}; they are in ${directory}` };
    } catch (second) {
      throw new Error(`${problem}, nor can ${temporary} (${reasonOf(second)}). Name another folder with --cache-dir.`);
    }
  }
}

function provide(embedded: Embedded, parent: string): string {
  const directory = join(parent, `lib-${embedded.id}`);
  if (!isComplete(embedded, directory)) write(embedded, parent, directory);
  return directory;
}

function isComplete(embedded: Embedded, directory: string): boolean {
  try {
    return embedded.files.every(({ name, size }) => statSync(join(directory, name)).size === size);
  } catch {
    return false;
  }
}

function write(embedded: Embedded, parent: string, directory: string): void {
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  if (forbidsPrograms(parent)) throw new Error("mounted noexec");
  removeLeftovers(parent);
  const temporary = mkdtempSync(join(parent, TEMPORARY));
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

/** Another process may have been faster, or a damaged folder is in the way, or another process just removes that. */
function moveInto(embedded: Embedded, temporary: string, directory: string): void {
  for (let attempts = 3; ; attempts--) {
    try {
      return renameSync(temporary, directory);
    } catch (error) {
      if (isComplete(embedded, directory)) return;
      if (attempts === 0) throw error;
    }
    const damaged = `${temporary}-damaged`;
    try {
      renameSync(directory, damaged);
    } catch {
      continue; // another process took it away
    }
    rmSync(damaged, { recursive: true, force: true });
  }
}

/** What processes that were killed while writing left behind. */
function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(TEMPORARY)) continue;
    const path = join(parent, name);
    const age = Date.now() - (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > STALE_MS) rmSync(path, { recursive: true, force: true });
  }
}

/** A folder that nobody else can have prepared: programs are loaded from it. */
function privateFolder(parent: string): string {
  const { uid } = userInfo();
  const folder = join(parent, `svc-${uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o022) !== 0) {
    throw new Error(`${folder} is open to other users`);
  }
  return folder;
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
