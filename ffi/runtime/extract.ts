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
import { checksum } from "./checksum.ts";
import type { Embedded } from "./embedded.ts";
import { forbidsPrograms } from "./mounts.ts";
import { isOurs, keepsOurs } from "./ownership.ts";

export interface Extracted {
  readonly directory: string;
  /** Set when the cache folder could not be used. */
  readonly warning?: string;
}

const TEMPORARY = ".lib-";
const STALE_MS = 3_600_000;

/**
 * Returns a folder with every embedded file as it was packed, which nobody else can change. A sound folder is used as it
 * is; one that is damaged or open to others is replaced; several processes may do this at once. When nothing can be written
 * to `cacheDir` or loaded from it, or others could change it, a private folder below `temporary` serves. Throws an Error
 * naming --cache-dir when neither can be used.
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
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  if (!keepsOurs(statSync(parent))) throw new Error("other users can change it");
  const directory = join(parent, `lib-${embedded.id}`);
  if (isSound(embedded, directory)) return directory;
  write(embedded, parent, directory);
  if (!isSound(embedded, directory)) throw new Error("what is written there does not stay as it is");
  return directory;
}

/** Every start reads all files: 63 MB take 15 ms, and what is damaged would be loaded by every start to come. */
function isSound(embedded: Embedded, directory: string): boolean {
  try {
    const folder = lstatSync(directory);
    if (!folder.isDirectory() || !isOurs(folder)) return false;
    return embedded.files.every(({ name, size, crc32 }) => {
      const path = join(directory, name);
      const found = lstatSync(path);
      return found.isFile() && isOurs(found) && found.size === size && checksum(path) === crc32;
    });
  } catch {
    return false;
  }
}

function write(embedded: Embedded, parent: string, directory: string): void {
  if (forbidsPrograms(parent)) throw new Error("mounted noexec");
  removeLeftovers(parent);
  const temporary = mkdtempSync(join(parent, TEMPORARY));
  try {
    const content = Bun.zstdDecompressSync(readFileSync(embedded.archive));
    let offset = 0;
    for (const { name, size } of embedded.files) {
      writeFileSync(join(temporary, name), content.subarray(offset, offset + size), { mode: 0o700, flush: true });
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
      if (isSound(embedded, directory)) return;
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
  const folder = join(parent, `svc-${userInfo().uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  if (!found.isDirectory() || !isOurs(found)) throw new Error(`${folder} is open to other users`);
  return folder;
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
