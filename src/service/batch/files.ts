// Files that clients upload, and those that batches leave: kept on disk until they are deleted or expire.

import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { BodyBudget } from "../../domain/body-budget.ts";
import { unixSeconds, type Clock } from "../../domain/clock.ts";
import { SvcError } from "../../domain/errors.ts";
import { newFileId } from "../../domain/ids.ts";
import type { PageRequest } from "../../domain/page-request.ts";
import type { FileRecord } from "../../store/file-records.ts";
import { emptyPage, type Page } from "../../store/page.ts";
import { storageError, withStorage } from "../../store/storage-error.ts";
import type { JobFolder } from "./job-folder.ts";
import { keepContent, receiveContent, type ContentLimits } from "./received-content.ts";

interface FileOptions {
  readonly folder: JobFolder;
  readonly clock: Clock;
  readonly limits: ContentLimits;
  /** Holds the line that is coming. */
  readonly bodyBudget: BodyBudget;
  /** Seconds that a file is kept; null: until it is deleted. */
  readonly keepSeconds: number | null;
}

/** A content that is on disk and is no file yet. */
interface ReceivedFile {
  /** Makes it a file, which is kept for so many seconds. */
  keep(filename: string, expiresSeconds?: number): Promise<FileRecord>;
  /** It is not wanted after all. */
  discard(): Promise<void>;
}

export class FilesService {
  constructor(private readonly options: FileOptions) {}

  get largest(): number {
    return this.options.limits.bytes;
  }

  /**
   * Takes a content in. Throws SvcError `payload_too_large` while it is read, `invalid_json` or `invalid_value` about a line,
   * `storage_full` or `storage_unavailable`, or what `chunks` throws; then nothing is left behind.
   */
  async receive(chunks: AsyncIterable<Uint8Array>, purpose: "batch" | "ocr" = "batch"): Promise<ReceivedFile> {
    const store = this.options.folder.open();
    const id = newFileId();
    const { limits, bodyBudget } = this.options;
    const claim = (more: number) => store.quota.claim(more);
    const received = receiveContent(chunks, store.partPath(id), limits, claim, bodyBudget, purpose === "batch");
    const bytes = await received.catch((error: unknown) => {
      throw storageError(error);
    });
    const keep = async (filename: string, expiresSeconds?: number) => {
      const createdAt = this.now();
      const seconds = expiresSeconds ?? this.options.keepSeconds;
      const expiresAt = seconds === null ? null : createdAt + seconds;
      const file = { id, bytes, filename, purpose, createdAt, expiresAt };
      try {
        await keepContent(store.partPath(id), store.contentPath(id));
        await this.options.folder.turns.enter();
        // A server that stops closes its store before its last requests end.
        this.options.folder.open().files.add(file);
        return file;
      } catch (error) {
        await rm(store.contentPath(id), { force: true });
        throw storageError(error);
      }
    };
    return { keep, discard: () => rm(store.partPath(id), { force: true }) };
  }

  /** Throws SvcError `not_found`. */
  get(id: string): FileRecord {
    const file = withStorage(() => this.options.folder.find()?.files.get(id, this.now()));
    if (file) return file;
    throw unknownFile();
  }

  list(page: PageRequest, purpose: string | undefined): Page<FileRecord> {
    const store = this.options.folder.find();
    return store ? withStorage(() => store.files.page(page, purpose, this.now())) : emptyPage(page);
  }

  /** A file with the place of its content. Throws SvcError `not_found`, or `storage_unavailable` when it has lost that. */
  content(id: string): FileRecord & { readonly path: string } {
    const file = this.get(id);
    const path = this.options.folder.open().contentPath(id);
    if (existsSync(path)) return { ...file, path };
    throw new SvcError("storage_unavailable", "The content of this file is missing from the server's data folder.");
  }

  /** Batches that were made of it go on. Throws SvcError `not_found`. */
  delete(id: string): void {
    if (!withStorage(() => this.options.folder.find()?.deleteFile(id, this.now()))) throw unknownFile();
  }

  private now(): number {
    return unixSeconds(this.options.clock);
  }
}

const unknownFile = () => new SvcError("not_found", "No file with this id is stored.", { param: "file_id" });
