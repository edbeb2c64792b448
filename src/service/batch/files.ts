// Stores files that clients upload and batches write, on disk until they are deleted or expire.

import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import type { ByteBudget } from "../../domain/byte-budget.ts";
import { unixSeconds, type Clock } from "../../domain/clock.ts";
import { SvcError } from "../../domain/errors.ts";
import type { UploadPurpose } from "../../domain/file-purpose.ts";
import { newFileId } from "../../domain/ids.ts";
import type { PageRequest } from "../../domain/page-request.ts";
import type { FileRecord } from "../../store/file-records.ts";
import { emptyPage, type Page } from "../../store/page.ts";
import { storageError, withStorage } from "../../store/storage-error.ts";
import { ENTRY_BYTES } from "../../store/storage-quota.ts";
import type { JobFolder } from "./job-folder.ts";
import { receiveContent, type ContentLimits } from "./received-content.ts";

interface FileOptions {
  readonly folder: JobFolder;
  readonly clock: Clock;
  readonly limits: ContentLimits;
  /** Budget for the memory of the line being received. */
  readonly bodyBudget: ByteBudget;
  /** Seconds to keep a file; null: until it is deleted. */
  readonly keepSeconds: number | null;
}

interface KeptAs {
  readonly purpose: UploadPurpose;
  /** Absent: the server's `keepSeconds`. */
  readonly expiresSeconds?: number;
}

/** Content that is on disk but not yet a file. */
interface ReceivedFile {
  /** Turns the content into a file. Throws SvcError about a line if the purpose, which was not known before, is batch. */
  keep(filename: string, as: KeptAs): Promise<FileRecord>;
  /** Deletes the content. */
  discard(): Promise<void>;
}

export class FilesService {
  constructor(private readonly options: FileOptions) {}

  get largest(): number {
    return this.options.limits.bytes;
  }

  /**
   * Writes content to disk. `purpose`: absent if it comes later. Throws SvcError `payload_too_large` while reading,
   * `invalid_json` or `invalid_value` about a line of a batch, `storage_full` or `storage_unavailable`, or what `chunks`
   * throws; then nothing is left behind.
   */
  async receive(chunks: AsyncIterable<Uint8Array>, purpose?: UploadPurpose): Promise<ReceivedFile> {
    const store = this.options.folder.open();
    const id = newFileId();
    const { limits, bodyBudget } = this.options;
    const claim = (more: number) => store.quota.claim(more);
    const received = claim(ENTRY_BYTES).then(() =>
      receiveContent(chunks, store.partPath(id), limits, claim, bodyBudget, purpose),
    );
    const { bytes, fault } = await received.catch((error: unknown) => {
      throw storageError(error);
    });
    const keep = async (filename: string, as: KeptAs) => {
      if (fault && as.purpose === "batch") throw fault;
      const createdAt = this.now();
      const seconds = as.expiresSeconds ?? this.options.keepSeconds;
      const expiresAt = seconds === null ? null : createdAt + seconds;
      const file = { id, bytes, filename, purpose: as.purpose, createdAt, expiresAt };
      try {
        await rename(store.partPath(id), store.contentPath(id));
        await this.options.folder.turns.enter();
        // A stopping server closes its store before its last requests end, so the store is opened again.
        this.options.folder.open().files.add(file);
        return file;
      } catch (error) {
        await rm(store.contentPath(id), { force: true });
        throw storageError(error);
      }
    };
    return { keep, discard: () => rm(store.partPath(id), { force: true }) };
  }

  /** Returns a file. Throws SvcError `not_found`. */
  get(id: string): FileRecord {
    const file = withStorage(() => this.options.folder.find()?.files.get(id, this.now()));
    if (file) return file;
    throw unknownFile();
  }

  list(page: PageRequest, purpose: string | undefined): Page<FileRecord> {
    const store = this.options.folder.find();
    return store ? withStorage(() => store.files.page(page, purpose, this.now())) : emptyPage(page);
  }

  /** Returns a file and its content's path. Throws SvcError `not_found`, or `storage_unavailable` without content. */
  content(id: string): FileRecord & { readonly path: string } {
    const file = this.get(id);
    const path = this.options.folder.open().contentPath(id);
    if (existsSync(path)) return { ...file, path };
    throw new SvcError("storage_unavailable", "The content of this file is missing from the server's data folder.");
  }

  /** Deletes a file; batches created from it continue. Throws SvcError `not_found`. */
  delete(id: string): void {
    if (!withStorage(() => this.options.folder.find()?.deleteFile(id, this.now()))) throw unknownFile();
  }

  private now(): number {
    return unixSeconds(this.options.clock);
  }
}

const unknownFile = () => new SvcError("not_found", "No file with this id is stored.", { param: "file_id" });
