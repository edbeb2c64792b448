// Manages the folder of downloaded models: files are in `hub/owner/repository/…`, `pypi/package/…` and `url/name/…`;
// `manifests/` lists the files of each model; `locks/` prevents two programs from downloading the same file, and the removal of a served one.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileReason, systemErrorCode } from "../../domain/system-error-code.ts";
import { tryLock } from "../process-lock.ts";
import { quantRank } from "./choose-files.ts";
import { KNOWN_SETS, type ModelPart } from "./known-sets.ts";
import { partsOf, writeWhole, writing } from "./part-file.ts";
import { PullError } from "./pull-error.ts";
import { isSafePath } from "./remote-file.ts";
import { inFull, tessdataLanguage, withoutQuery } from "./short-names.ts";

export interface StoredFile {
  /** Path relative to the folder of models. */
  readonly path: string;
  readonly bytes?: number;
  /** Purpose of the file in a model with parts; absent: the model itself. */
  readonly part?: ModelPart;
  /** Identity of the version that is wanted or present. */
  readonly identity?: string;
  /** Absent until the file is downloaded. */
  readonly sha256?: string;
}

export interface Manifest {
  /** `owner/repository:TAG`, the name of the file at a URL, the name of a known set, or `tessdata:LANGUAGE`. */
  readonly name: string;
  /** Source of the model. */
  readonly url: string;
  readonly quant?: string;
  readonly files: readonly StoredFile[];
  readonly projector?: StoredFile;
  /** When the download was complete, in ISO 8601; absent until then. */
  readonly pulled?: string;
}

export class ModelStore {
  /** `folder` need not exist. */
  constructor(readonly folder: string) {}

  /** Returns all models by name, including incomplete ones. Throws PullError when the folder cannot be read. */
  list(): Manifest[] {
    return namesIn(this.manifests)
      .filter((name) => name.endsWith(".json"))
      .map((name) => readManifest(join(this.manifests, name)))
      .filter((manifest) => manifest !== undefined)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Returns the first model that `findAll` finds for a name. Throws PullError. */
  find(name: string): Manifest | undefined {
    return this.findAll(name)[0];
  }

  /**
   * Returns the models that match a name, ignoring case: the full or short name, else the name without tag, owner or
   * both, else without the UD- of its tag, else `owner/repository:FILE`, else the source URL. Complete models come first,
   * then the default order of quantizations decides. `among`: the models to search; absent: all. Throws PullError.
   */
  findAll(name: string, among: readonly Manifest[] = this.list()): Manifest[] {
    const wanted = inFull(name).toLowerCase();
    const short = (full: string) => full.slice(full.indexOf("/") + 1);
    const untagged = (full: string) => full.replace(/:.*$/, "");
    const withoutUd = (full: string) => full.replace(":ud-", ":");
    const readings = [(full: string) => full, untagged, short, (full: string) => untagged(short(full)), withoutUd];
    const named = readings.map((reading) => among.filter((model) => reading(model.name.toLowerCase()) === wanted));
    const byFile = among.filter(({ files }) => files.some(({ path }) => isOfFile(wanted, path.toLowerCase())));
    const address = withoutQuery(name);
    const byUrl = among.filter(({ url }) => url === address);
    const matching = [...named, byFile, byUrl].find(({ length }) => length > 0) ?? [];
    return matching
      .map((model) => ({ model, ready: this.isReady(model) ? 0 : 1 }))
      .sort((a, b) => a.ready - b.ready || quantRank(a.model.quant) - quantRank(b.model.quant))
      .map(({ model }) => model);
  }

  /** The folder of the manifests. */
  get manifests(): string {
    return join(this.folder, "manifests");
  }

  get(name: string): Manifest | undefined {
    return readManifest(this.manifestPath(name));
  }

  /** Returns whether all files exist with the right sizes. */
  isReady(model: Manifest): boolean {
    return model.pulled !== undefined && filesOf(model).every((file) => this.has(file));
  }

  /** Returns whether a file exists as it was downloaded. */
  has({ path, bytes, sha256 }: StoredFile): boolean {
    const found = statSync(this.path(path), { throwIfNoEntry: false });
    return sha256 !== undefined && found?.isFile() === true && found.size === bytes;
  }

  path(relative: string): string {
    return join(this.folder, relative);
  }

  /** Writes the manifest, completely or not at all. Throws PullError. */
  async save(manifest: Manifest): Promise<void> {
    await writeWhole(this.manifestPath(manifest.name), `${JSON.stringify(manifest, undefined, 2)}\n`);
  }

  /** Takes the lock of a file and returns the function that releases it; undefined while another program has it. */
  lock(relative: string): Promise<(() => void) | undefined> {
    return this.tryLock(this.lockPath(relative));
  }

  /**
   * Keeps other processes from removing these files, of which those elsewhere are ignored, until the returned function
   * is called.
   */
  async hold(files: readonly string[]): Promise<() => void> {
    const own = files.filter((file) => file.startsWith(this.folder + sep));
    const held = own.map((file) => this.tryLock(this.servedPath(file.slice(this.folder.length + 1)), true));
    // Without permission to lock, there is usually none to remove either.
    const releases = await Promise.all(held.map((lock) => lock.catch(() => undefined)));
    return () => releases.forEach((release) => release?.());
  }

  /**
   * Removes a model: its files except those that another model needs, their partial downloads, and its manifest.
   * Returns the number of bytes freed. Throws PullError while the model is being downloaded or served.
   */
  async remove(model: Manifest): Promise<number> {
    const paths = this.unneeded(filesOf(model), model.name);
    const busy = (what: string) => new PullError(`${model.name} is being ${what} at this moment; stop that first.`);
    const releases: (() => void)[] = [];
    const take = async (lock: string, what: string) => {
      const release = await this.tryLock(lock);
      if (!release) throw busy(what);
      releases.push(release);
    };
    try {
      for (const path of paths) {
        await take(this.lockPath(path), "pulled");
        await take(this.servedPath(path), "served by another svc");
      }
      const files = paths.flatMap((path) => [this.path(path), ...partsOf(this.path(path))]);
      const bytes = files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
      // The manifest goes last, so that an interrupted removal can be repeated.
      const manifest = this.manifestPath(model.name);
      await writing(this.folder, async () => [...files, manifest].forEach((file) => rmSync(file, { force: true })));
      for (const file of [...files, manifest]) this.prune(dirname(file));
      // Their folders stay: another process may be about to create a lock there.
      paths.flatMap((path) => [this.lockPath(path), this.servedPath(path)]).forEach(removeIfPossible);
      return bytes;
    } finally {
      for (const release of releases) release();
    }
  }

  /** Removes the manifest of a model of which there is nothing, not even a part. */
  async forgetAbsent(model: Manifest): Promise<void> {
    const isThere = (path: string) => existsSync(path) || partsOf(path).length > 0;
    if (filesOf(model).some(({ path }) => isThere(this.path(path)))) return;
    await this.remove(model);
  }

  /** Removes those of the files, from an earlier version of a model, that no model needs now. */
  async removeOld(files: readonly StoredFile[]): Promise<void> {
    const paths = this.unneeded(files).map((path) => this.path(path));
    await writing(this.folder, async () => paths.forEach((path) => rmSync(path, { force: true })));
  }

  /** Returns the paths of files that no model other than `name` needs. */
  private unneeded(files: readonly StoredFile[], name?: string): string[] {
    const others = this.list().filter((other) => other.name !== name);
    const needed = new Set(others.flatMap((other) => filesOf(other).map(({ path }) => path)));
    return files.map(({ path }) => path).filter((path) => !needed.has(path));
  }

  private lockPath(relative: string): string {
    return join(this.folder, "locks", relative);
  }

  /** Returns the path of the lock that all processes share that serve a file. */
  private servedPath(relative: string): string {
    return `${this.lockPath(relative)}.served`;
  }

  private tryLock(path: string, shared = false): Promise<(() => void) | undefined> {
    return writing(path, async () => {
      mkdirSync(dirname(path), { recursive: true });
      return tryLock(path, shared);
    });
  }

  private manifestPath(name: string): string {
    const relative = name.replace(":", "/");
    return join(this.manifests, `${relative.includes("/") ? `hub/${relative}` : `url/${relative}`}.json`);
  }

  /** Removes a folder and its parents as far as they are empty. */
  private prune(folder: string): void {
    for (let at = folder; at.startsWith(this.folder + sep); at = dirname(at)) {
      try {
        rmdirSync(at);
      } catch {
        return;
      }
    }
  }
}

/** Returns the model's files in order, then its projector. */
export const filesOf = ({ files, projector }: Manifest): readonly StoredFile[] => [
  ...files,
  ...(projector ? [projector] : []),
];

/** Returns the operand for `svc pull` that downloads the model again. */
export const sourceOf = ({ name, url }: Manifest): string =>
  name.includes("/") || KNOWN_SETS.has(name) || tessdataLanguage(name) !== undefined ? name : url;

export const bytesOf = (model: Manifest): number => filesOf(model).reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);

/** Returns whether `owner/repository:FILE` is a name of the file, with or without its folders there. */
function isOfFile(name: string, path: string): boolean {
  const [repo, file] = name.split(":", 2);
  return file !== undefined && path.startsWith(`hub/${repo}/`) && path.endsWith(`/${file}`);
}

/** Removes an open file, which Windows refuses. */
function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // An empty file remains.
  }
}

/** Returns the paths in a folder and its subfolders; none when it is missing. Throws PullError. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return [];
    throw new PullError(`The folder of models ${folder} cannot be read: ${fileReason(error)}.`);
  }
}

/** Reads a manifest; undefined when missing or not written by this program. */
function readManifest(path: string): Manifest | undefined {
  try {
    const manifest = JSON.parse(readFileSync(path, "utf8")) as Manifest;
    const isOurs = typeof manifest.name === "string" && manifest.files.length > 0;
    return isOurs && filesOf(manifest).every((file) => isSafePath(file.path)) ? manifest : undefined;
  } catch {
    return undefined;
  }
}
