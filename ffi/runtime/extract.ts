// Writes the files of a component to their own folder, once, so that a library finds its siblings by name.

import {
  accessSync,
  constants,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  type Stats,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { checksum } from "./checksum.ts";
import type { Component, Packed } from "./embedded.ts";
import { reasonOf } from "./native-error.ts";
import { isOurs, keepsBelow, keepsOurs, ownUid } from "./ownership.ts";

interface Extracted {
  readonly directory: string;
  /** Set when the cache folder could not be used. */
  readonly warning?: string;
}

const TEMPORARY = ".lib-";
/** A component's folder or archive. The pattern is exact, because users may name any folder as the cache folder. */
const COMPONENT = /^lib-[0-9a-f]{16}(\.zst)?$/;
/** File in a component's folder: the state of the others, which changes when one is written, when they were compared. */
const COMPARED = ".compared";
const STALE_MS = 3_600_000;
const DAY_MS = 24 * 3_600_000;
/** Folders of other versions are removed after this time without use. */
const UNUSED_MS = 30 * DAY_MS;

type Extractable = Packed & Pick<Component, "archive" | "bytes" | "sha256">;

/** Returns the folder of a component below the folder of all components. */
export const folderOf = ({ id }: Packed, parent: string): string => join(parent, `lib-${id}`);

/** Returns the name of a component's archive in a release: on all platforms, the same bytes have the same name. */
export const archiveName = ({ name, sha256 }: Pick<Component, "name" | "sha256">): string =>
  `svc-component-${name}-${sha256.slice(0, 16)}.zst`;

/** Returns where a component's downloaded archive is stored. */
export const downloadOf = ({ id }: Packed, parent: string): string => join(parent, `lib-${id}.zst`);

/** Returns whether a component's archive was downloaded. Its content is checked when it is unpacked. */
export function isDownloaded(component: Packed & Pick<Component, "bytes">, parent: string): boolean {
  const found = lstatSync(downloadOf(component, parent), { throwIfNoEntry: false });
  return found?.isFile() === true && found.size === component.bytes;
}

/**
 * Returns a folder, as a path without links, with every file of the component as it was packed, which no other user can
 * change. An intact folder is used as it is; one that is damaged or open to others is replaced. Several processes may
 * do this at once. When `cacheDir` cannot be written to or loaded from, or others could change it, uses a private
 * folder below `temporary`. Throws an Error naming --cache-dir when neither can be used.
 */
export function extract(component: Extractable, cacheDir: string, temporary = tmpdir()): Extracted {
  try {
    return { directory: extractInto(component, cacheDir) };
  } catch (error) {
    const problem = `${cacheDir} cannot hold the native libraries (${reasonOf(error)})`;
    try {
      const directory = extractInto(component, privateFolder(temporary));
      return { directory, warning: `${problem}; they are in ${directory}` };
    } catch (second) {
      throw new Error(`${problem}, nor can ${temporary} (${reasonOf(second)}). Name another folder with --cache-dir.`);
    }
  }
}

/** Does the same below `parent` only. Throws an Error with the reason when `parent` cannot be used. */
export function extractInto(component: Extractable, parent: string): string {
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const real = realpathSync(parent);
  if (!isKept(real)) throw new Error("other users can change it, or a folder that it is in");
  const directory = folderOf(component, real);
  if (isSound(component, directory)) {
    touch(directory);
    return directory;
  }
  write(component, real, directory);
  if (!isSound(component, directory)) throw new Error("what is written there does not stay as it is");
  return directory;
}

/**
 * Returns whether a folder, as a path without links, stays in place: anyone who can rename a folder above it can
 * replace it.
 */
function isKept(folder: string): boolean {
  for (let above = dirname(folder); above !== dirname(above); above = dirname(above)) {
    if (!keepsBelow(statSync(above))) return false;
  }
  return keepsOurs(statSync(folder));
}

/**
 * Removes what other versions of this program unpacked in `parent` and did not use for a month. `components`: those of
 * this version.
 */
export function removeUnused(components: readonly Packed[], parent: string): void {
  const ours = components.flatMap((component) => [folderOf(component, parent), downloadOf(component, parent)]);
  removeOlder(parent, UNUSED_MS, (name) => COMPONENT.test(name) && !ours.includes(join(parent, name)));
}

/** Marks the folder as in use, once a day. */
function touch(directory: string): void {
  const now = new Date();
  try {
    if (now.getTime() - statSync(directory).mtimeMs > DAY_MS) utimesSync(directory, now, now);
  } catch {
    // Where nothing can be written, nothing is removed either.
  }
}

/**
 * Returns whether `directory` has the component's files as they were packed. Their content is compared once a day and
 * boot, when one of them was written since, and after `doubt`: reading 40 MB would make every start 20 ms longer, in each
 * of two processes.
 */
export function isSound({ files }: Packed, directory: string): boolean {
  try {
    const folder = lstatSync(directory);
    if (!folder.isDirectory() || !isOurs(folder)) return false;
    const found = files.map(({ name }) => lstatSync(join(directory, name)));
    if (!files.every(({ size }, at) => isFileOfOurs(found[at]) && found[at].size === size)) return false;
    const state = [bootId(), ...found.map(({ ino, ctimeMs }) => `${ino} ${ctimeMs}`)].join("\n");
    if (wasCompared(directory, state)) return true;
    if (!files.every(({ name, crc32 }) => checksum(join(directory, name)) === crc32)) return false;
    noteCompared(directory, state);
    return true;
  } catch {
    return false;
  }
}

const isFileOfOurs = (found: Stats | undefined): found is Stats => found?.isFile() === true && isOurs(found);

/** Returns whether the content of the files was found to be right during the last day, in this state. */
function wasCompared(directory: string, state: string): boolean {
  const path = join(directory, COMPARED);
  try {
    const found = lstatSync(path);
    // The clock may have been put back.
    return isFileOfOurs(found) && Math.abs(Date.now() - found.mtimeMs) < DAY_MS && readFileSync(path, "utf8") === state;
  } catch {
    return false;
  }
}

function noteCompared(directory: string, state: string): void {
  try {
    writeFileSync(join(directory, COMPARED), state, { mode: 0o600 });
  } catch {
    // Where nothing can be written, the content is compared at every start.
  }
}

/** Has the next start compare the content of a component's files, one of which could not be loaded. */
export function doubt(directory: string): void {
  try {
    rmSync(join(directory, COMPARED), { force: true });
  } catch {
    // Another user's.
  }
}

/** Returns what changes with every start of the system, where that is known: damage shows when files are read anew. */
function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}

function write(component: Extractable, parent: string, directory: string): void {
  // Remove what killed processes have left behind while writing.
  removeOlder(parent, STALE_MS, (name) => name.startsWith(TEMPORARY));
  const temporary = mkdtempSync(join(parent, TEMPORARY));
  try {
    checkLoadable(join(temporary, "probe"));
    const { archive } = component;
    const packed = archive === undefined ? readDownloaded(component, parent) : readFileSync(archive);
    const content = Bun.zstdDecompressSync(packed);
    let offset = 0;
    for (const { name, size } of component.files) {
      writeFileSync(join(temporary, name), content.subarray(offset, offset + size), { mode: 0o700, flush: true });
      offset += size;
    }
    moveInto(component, temporary, directory);
    rmSync(downloadOf(component, parent), { force: true });
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/**
 * Throws an Error where an executable file cannot be executed, even by root, as nothing could be loaded. Writes and
 * removes the file `probe`. Where it gets no x bit (umask, vfat), nothing is known: loading a library needs none.
 */
function checkLoadable(probe: string): void {
  writeFileSync(probe, "", { mode: 0o700 });
  try {
    if (statSync(probe).mode & constants.S_IXUSR) accessSync(probe, constants.X_OK);
  } catch {
    throw new Error("mounted noexec");
  }
  rmSync(probe);
}

/**
 * Returns the bytes of a downloaded archive. Where others may add files beside ours, it may be theirs, and the disk may
 * have damaged it: unless it is what was released, removes it, so that it is downloaded again, and throws an Error.
 */
function readDownloaded(component: Extractable, parent: string): Uint8Array {
  const path = downloadOf(component, parent);
  if (!isDownloaded(component, parent)) throw new Error(`${path} is not there as it was downloaded`);
  const bytes = readFileSync(path);
  if (new Bun.CryptoHasher("sha256").update(bytes).digest("hex") === component.sha256) return bytes;
  try {
    rmSync(path);
  } catch {
    // Another user's.
  }
  throw new Error(`${path} is not what was released`);
}

/**
 * Renames the new folder into place. Another process may have been faster, a damaged folder may be in the way, or
 * another process may be removing that.
 */
function moveInto(component: Packed, temporary: string, directory: string): void {
  for (let attempts = 3; ; attempts--) {
    try {
      return renameSync(temporary, directory);
    } catch (error) {
      if (isSound(component, directory)) return;
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

/** Removes what is ours in `parent`, has a matching name and was not written or used for `ms` milliseconds. */
function removeOlder(parent: string, ms: number, matches: (name: string) => boolean): void {
  for (const name of readdirSync(parent).filter(matches)) {
    const path = join(parent, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (!found || !isOurs(found) || Date.now() - found.mtimeMs <= ms) continue;
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // Windows keeps what a running svc has loaded.
    }
  }
}

/** Returns a folder that no other user can have prepared, because programs are loaded from it. */
function privateFolder(parent: string): string {
  const folder = join(parent, `svc-${ownUid()}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  if (!found.isDirectory() || !isOurs(found)) throw new Error(`${folder} is open to other users`);
  return folder;
}
