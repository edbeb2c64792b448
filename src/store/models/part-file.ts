// The partial file of a download: appended to, hashed on the way, and renamed when complete.

import { createHash, type Hash } from "node:crypto";
import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errorMessage } from "../../domain/error-message.ts";
import { fileReason, systemErrorCode } from "../../domain/system-error-code.ts";
import { replaceFile } from "../replace-file.ts";
import { PullError, RejectedError } from "./pull-error.ts";
import { identityOf, type RemoteFile } from "./remote-file.ts";

const READ_BYTES = 1 << 20;
const UNKNOWN = "unknown";

/** Returns the path of the part. The path contains the file's version, so that no other version is ever continued. */
export function partPath(target: string, remote: RemoteFile): string {
  const identity = identityOf(remote);
  const version = identity === undefined ? UNKNOWN : createHash("sha256").update(identity).digest("hex").slice(0, 12);
  return `${target}.${version}.part`;
}

/** Returns the paths of all parts of `target`, of any version. */
export function partsOf(target: string): string[] {
  const name = basename(target);
  const isPart = (entry: string) =>
    entry.startsWith(`${name}.`) && /^\.[0-9a-z]+\.part$/.test(entry.slice(name.length));
  try {
    return readdirSync(dirname(target))
      .filter(isPart)
      .map((entry) => join(dirname(target), entry));
  } catch {
    return [];
  }
}

export class PartFile {
  private sha256 = createHash("sha256");
  private gitSha1: Hash | undefined;
  /** Bytes received so far. */
  received = 0;

  private constructor(
    private readonly handle: FileHandle,
    readonly path: string,
    private readonly target: string,
    private readonly remote: RemoteFile,
  ) {}

  /**
   * Opens or creates the part and hashes its content; removes parts of other versions. Throws PullError, or the signal's
   * reason.
   */
  static async open(target: string, remote: RemoteFile, signal: AbortSignal): Promise<PartFile> {
    const path = partPath(target, remote);
    const part = await writing(path, async () => {
      mkdirSync(dirname(target), { recursive: true });
      for (const other of partsOf(target)) if (other !== path) rmSync(other);
      return new PartFile(await open(path, "a+"), path, target, remote);
    });
    try {
      await writing(path, () => part.readBack(signal));
      return part;
    } catch (error) {
      await part.close();
      signal.throwIfAborted();
      throw error;
    }
  }

  async append(bytes: Uint8Array): Promise<void> {
    await writing(this.path, async () => {
      for (let done = 0; done < bytes.length;) done += (await this.handle.write(bytes, done)).bytesWritten;
    });
    this.add(bytes);
  }

  /** Empties the part. */
  async restart(): Promise<void> {
    await this.handle.truncate(0);
    this.received = 0;
    this.startHashes();
  }

  /**
   * Checks the complete file and renames it to its target; returns its SHA-256. Deletes the file and throws
   * RejectedError when its checksum is wrong or `check` throws.
   */
  async finish(check: (path: string) => void): Promise<string> {
    const sha256 = this.sha256.digest("hex");
    const { checksum, path } = this.remote;
    const found = checksum?.algorithm === "git-sha1" ? this.gitSha1?.digest("hex") : sha256;
    if (checksum && found !== checksum.hex) {
      await this.discard();
      throw new RejectedError(
        `${path} arrived with a wrong checksum and was deleted; pull it again. The disk or the network damaged it.`,
      );
    }
    try {
      check(this.path);
    } catch (error) {
      await this.discard();
      const reason = errorMessage(error);
      throw new RejectedError(`${path} was downloaded and deleted: ${reason.replace(basename(this.path), "it")}`);
    }
    await writing(this.path, () => this.handle.sync()).finally(() => this.close());
    await writing(this.target, async () => renameSync(this.path, this.target));
    return sha256;
  }

  async discard(): Promise<void> {
    await this.close();
    rmSync(this.path, { force: true });
  }

  close(): Promise<void> {
    return this.handle.close();
  }

  private async readBack(signal: AbortSignal): Promise<void> {
    const { size } = await this.handle.stat();
    const isVersion = identityOf(this.remote) !== undefined;
    if (!isVersion || size > (this.remote.bytes ?? Infinity)) return this.restart();
    this.startHashes();
    const buffer = new Uint8Array(READ_BYTES);
    while (this.received < size) {
      signal.throwIfAborted();
      const { bytesRead } = await this.handle.read(buffer, 0, buffer.length, this.received);
      if (bytesRead === 0) return this.restart();
      this.add(buffer.subarray(0, bytesRead));
    }
  }

  private add(bytes: Uint8Array): void {
    this.sha256.update(bytes);
    this.gitSha1?.update(bytes);
    this.received += bytes.length;
  }

  private startHashes(): void {
    this.sha256 = createHash("sha256");
    if (this.remote.checksum?.algorithm !== "git-sha1") return;
    this.gitSha1 = createHash("sha1").update(`blob ${this.remote.bytes}\0`);
  }
}

const FULL: ReadonlySet<string | undefined> = new Set(["ENOSPC", "EDQUOT"]);

/** Runs `work`; converts failures of the disk to a PullError of one sentence. */
export async function writing<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PullError) throw error;
    const remedy = FULL.has(systemErrorCode(error)) ? "; free some space and pull again, what is there is kept" : "";
    throw new PullError(`${path} cannot be written: ${fileReason(error)}${remedy}.`);
  }
}

/** Writes a file and creates its folder; writes it completely or not at all. Throws PullError. */
export const writeWhole = (path: string, content: string | Uint8Array): Promise<void> =>
  writing(path, async () => {
    mkdirSync(dirname(path), { recursive: true });
    replaceFile(path, content);
  });
