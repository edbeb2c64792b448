// Reads files that are named by path or file: URL, from one folder only.

import { constants } from "node:fs";
import { open, realpath, type FileHandle } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { checkSize, Refusal } from "./refusal.ts";

const LONGEST_PATH = 4096;
const rule = "name a file in the server's media folder";

/** A path names no file of the folder, or none that can be read. */
export class NoSuchFile extends Refusal {}

/**
 * Reads the file that a path or file: URL names, at most `limit` bytes. A relative path starts at `root`. Throws
 * Refusal, with the same message for outside and missing files: clients must not learn which files exist.
 */
export async function readLocalFile(reference: string, root: string | undefined, limit: number): Promise<Uint8Array> {
  if (root === undefined) {
    throw new Refusal("be a data: or http(s) URL, as this server has no media folder", "a path or file: URL");
  }
  const { file, size } = await openLocalFile(reference, root, limit);
  try {
    return await readUpTo(file, size);
  } finally {
    await file.close();
  }
}

/**
 * Returns the path, with links resolved, of the file that a path or file: URL names. Throws Refusal as `readLocalFile`
 * does, for which it opens the file. Another file may be at this path when it is read later.
 */
export async function localPath(reference: string, root: string | undefined, limit: number): Promise<string> {
  if (root === undefined) {
    throw new Refusal("be sent, in a form or as data, as this server has no media folder (--media-root)", "a path");
  }
  const { file, path } = await openLocalFile(reference, root, limit);
  await file.close();
  return path;
}

async function openLocalFile(reference: string, root: string, limit: number) {
  const path = await withinRoot(pathOf(reference), root);
  const file = await openPlain(path);
  try {
    const { size } = await file.stat();
    checkSize(size, limit);
    return { file, path, size };
  } catch (error) {
    await file.close();
    throw error;
  }
}

function pathOf(reference: string): string {
  const [, url] = /^file:(?:\/\/(?:localhost(?=\/))?)?(.*)$/is.exec(reference) ?? [];
  try {
    const path = url === undefined ? reference : withoutSlash(decodeURIComponent(url));
    if (path.length <= LONGEST_PATH && !path.includes("\0")) return path;
  } catch {
    throw new NoSuchFile(rule, "a file: URL with a broken escape");
  }
  throw new NoSuchFile(rule, `a string of length ${reference.length} that is not a path`);
}

/** In a URL, a slash precedes the drive of a Windows path. */
const withoutSlash = (path: string): string =>
  process.platform === "win32" ? path.replace(/^\/(?=[a-z]:)/i, "") : path;

/**
 * Returns the path with all links resolved when it is inside the root, whose links are resolved, too. Does not touch a
 * path that begins elsewhere: that alone may mount a file system or, on Windows, log in at another machine. The root `/`
 * contains every file, on Windows those of other drives, too.
 */
async function withinRoot(path: string, root: string): Promise<string> {
  const elsewhere = new NoSuchFile(rule, "a path that names none there");
  try {
    const realRoot = await realpath(root);
    const named = resolve(realRoot, path);
    const hasAll = root === "/";
    if (!hasAll && !isInside(named, realRoot) && !isInside(named, resolve(root))) throw elsewhere;
    const real = await realpath(named);
    if (hasAll || isInside(real, realRoot)) return real;
  } catch {
    throw elsewhere;
  }
  throw elsewhere;
}

function isInside(path: string, root: string): boolean {
  const inside = relative(root, path);
  return inside !== "" && inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}

async function openPlain(path: string): Promise<FileHandle> {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer. Windows has neither flag.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const file = await open(path, flags).catch(() => undefined);
  if (!file) throw new NoSuchFile("name a file that the server can read", "a file that it cannot open");
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new NoSuchFile(rule, "something that is not a regular file");
}

/** Reads up to the size that was checked, even when the file grows meanwhile. */
async function readUpTo(file: FileHandle, size: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(size);
  let filled = 0;
  while (filled < size) {
    const { bytesRead } = await file.read(bytes, filled, size - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}
