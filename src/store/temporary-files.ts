// Stores uploads for engines to read: private files of this process, each deleted when its request ends.

import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ByteAccount, ByteBudget } from "../domain/byte-budget.ts";
import { fieldError, invalidValue, type SvcError } from "../domain/errors.ts";
import { storageError } from "./storage-error.ts";
import { TemporaryFolder, type FolderKind } from "./temporary-folder.ts";

const FOLDER = "folder for temporary files (TMPDIR)";

/** A file that a client sent. */
export interface TemporaryFile {
  readonly path: string;
  /** The request's field that the file came in. */
  readonly field: string;
  /** Deletes the file when it is no longer needed. */
  discard(): Promise<void>;
}

interface TemporaryFilesOptions {
  /** The folder for temporary files. */
  readonly parent: string;
  readonly kind: FolderKind;
  /** Maximum bytes of a file. */
  readonly largest: number;
  /** For messages: what the server does with the files, and the option that sets the maximum size. */
  readonly does: string;
  readonly option: string;
  /** Budget for the bytes of all existing files, shared with other instances. */
  readonly budget: ByteBudget;
}

export class TemporaryFiles {
  private folder: TemporaryFolder | undefined;
  private count = 0;

  constructor(private readonly options: TemporaryFilesOptions) {}

  /** Maximum bytes of a file. */
  get largest(): number {
    return this.options.largest;
  }

  /**
   * Writes a file as its chunks arrive. Throws SvcError `payload_too_large`, `invalid_value` when it is empty,
   * `server_busy` when other requests hold too much, `storage_full`, or what `chunks` throws; then nothing is left
   * behind.
   */
  async receive(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, param = "file"): Promise<TemporaryFile> {
    const path = this.nextPath();
    const account = this.options.budget.open();
    const discard = async () => {
      // Windows keeps a file that an engine has open; it goes with the folder then.
      await rm(path, { force: true }).catch(() => {});
      account.close();
    };
    try {
      const bytes = await this.write(chunks, path, param, account);
      if (bytes > 0) return { path, field: param, discard };
      throw invalidValue(param, "not be empty", "0 bytes");
    } catch (error) {
      await discard();
      throw storageError(error, FOLDER);
    }
  }

  /** Returns the error for a file above the maximum. */
  tooLarge(param: string): SvcError {
    const { largest, does, option } = this.options;
    const limit = `${Math.floor(largest / 1024 / 1024)} MiB${option && ` (${option})`}`;
    return fieldError("payload_too_large", param, `is too large: this server ${does} of at most ${limit}`);
  }

  /** Deletes all files. */
  close(): void {
    this.folder?.remove();
    this.folder = undefined;
  }

  private async write(
    chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    path: string,
    param: string,
    account: ByteAccount,
  ): Promise<number> {
    await using file = await open(path, "wx", 0o600);
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > this.largest) throw this.tooLarge(param);
      account.hold(bytes);
      for (let at = 0; at < chunk.length;) at += (await file.write(chunk, at)).bytesWritten;
    }
    return bytes;
  }

  /** Creates the folder on first use, and again if it is gone. */
  private nextPath(): string {
    const { parent, kind } = this.options;
    try {
      if (this.folder?.isThere !== true) {
        this.close();
        this.folder = new TemporaryFolder(parent, kind);
      }
      return join(this.folder.path, String(++this.count));
    } catch (error) {
      throw storageError(error, FOLDER);
    }
  }
}
