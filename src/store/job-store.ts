// Stores files and batch jobs on disk: records in one database, contents beside it. Several servers may use one folder.
//
//   jobs.sqlite      records
//   files/ID         contents; ID.part while receiving
//   batches/ID/      of an unfinished batch: input.jsonl, output.jsonl, lock

import type { Database } from "bun:sqlite";
import { existsSync, mkdirSync, rmSync, statSync, utimesSync, type Stats } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { nextTurn } from "../domain/next-turn.ts";
import { BatchRecords, type BatchRecord, type BatchStatus, type NewBatch } from "./batch-records.ts";
import { FileRecords, type FileRecord } from "./file-records.ts";
import { databaseBytes, foreignVersion, openJobDatabase } from "./job-database.ts";
import { linkOrCopy } from "./link-or-copy.ts";
import { ownFolder } from "./owner-only.ts";
import { tryLock } from "./process-lock.ts";
import { isMissing, isThere } from "./storage-error.ts";
import { StorageQuota } from "./storage-quota.ts";

/** Maximum age of unfinished work, in seconds. */
const OLDEST_WORK_S = 3600;
/** Seconds for which a page may begin after a removed file, as clients may delete files while they page. */
const CURSOR_S = 3600;
/** Files or batches that a sweep looks at per turn of the event loop. */
const NAMES_IN_A_TURN = 100;

const databasePath = (folder: string) => join(folder, "jobs.sqlite");

export class JobStore {
  readonly files: FileRecords;
  readonly batches: BatchRecords;
  /** Quota of all files and batches, with their records. */
  readonly quota: StorageQuota;
  private readonly database: Database;
  private readonly versionAtOpening: number;
  private isClosed = false;

  /**
   * Opens the store in `folder`, and creates it if missing; all of it may take `mostBytes`. Throws errors of the
   * system and the database.
   */
  constructor(
    private readonly folder: string,
    mostBytes = Infinity,
  ) {
    for (const name of ["files", "batches"]) ownFolder(join(folder, name));
    this.quota = new StorageQuota(folder, mostBytes, () => this.isShared(), {
      records: () => (this.isClosed ? 0 : databaseBytes(this.database)),
    });
    this.database = openJobDatabase(databasePath(folder));
    this.versionAtOpening = foreignVersion(this.database);
    this.files = new FileRecords(this.database);
    this.batches = new BatchRecords(this.database);
  }

  /** Returns whether something was ever stored in `folder`. */
  static exists(folder: string): boolean {
    return existsSync(databasePath(folder));
  }

  close(): void {
    this.isClosed = true;
    this.database.close();
  }

  /** Returns the path of a file's content. */
  contentPath(id: string): string {
    return join(this.folder, "files", id);
  }

  /** Returns the path at which content is received before it becomes a file. */
  partPath(id: string): string {
    return `${this.contentPath(id)}.part`;
  }

  inputPath(batch: string): string {
    return join(this.batchFolder(batch), "input.jsonl");
  }

  outputPath(batch: string): string {
    return join(this.batchFolder(batch), "output.jsonl");
  }

  /** Takes the lock to run a batch; returns its release function, or undefined while another process has it. */
  lock(batch: string): (() => void) | undefined {
    mkdirSync(this.batchFolder(batch), { recursive: true, mode: 0o700 });
    return tryLock(join(this.batchFolder(batch), "lock"));
  }

  /**
   * Adds a batch with its own link to the content of its input, which therefore outlives the input file. Throws errors
   * of the system, and SvcError `storage_full` when there is no space for a copy in place of a link; then the caller
   * clears the batch.
   */
  addBatch(batch: NewBatch): void {
    mkdirSync(this.batchFolder(batch.id), { recursive: true, mode: 0o700 });
    linkOrCopy(this.contentPath(batch.inputFileId), this.inputPath(batch.id), (bytes) => this.quota.claimNow(bytes));
    this.batches.add(batch);
  }

  /** Makes a file expire and removes its content; returns false when there is none. */
  deleteFile(id: string, now: number): boolean {
    const deleted = this.files.expire(id, now);
    if (deleted) {
      this.quota.release(this.contentPath(id));
      rmSync(this.contentPath(id), { force: true });
    }
    return deleted;
  }

  /**
   * Makes the output of a batch a file and sets the batch's final status. Does neither and returns false when the
   * status has changed meanwhile. May be repeated.
   */
  handOver({ id, status }: BatchRecord, output: FileRecord, end: BatchStatus, at: number): boolean {
    try {
      // Until the file's record exists, only the recent modification time protects the content from `sweep`.
      utimesSync(this.outputPath(id), new Date(), new Date());
      // The original of a copy is removed soon.
      linkOrCopy(this.outputPath(id), this.contentPath(output.id), (bytes) => this.quota.take(bytes));
    } catch (error) {
      if (!isThere(error)) throw error;
    }
    const advance = this.database.transaction(() => {
      if (!this.batches.advance(id, status, end, at)) return false;
      this.files.add(output);
      return true;
    });
    return advance.immediate();
  }

  /** Removes the folder of a batch that has ended or could not be added. Nobody may have a file in it open. */
  clear(batch: string): void {
    rmSync(this.batchFolder(batch), { recursive: true, force: true });
  }

  /**
   * Removes expired files, batches that ended `keepBatchSeconds` ago (null: none) and have no output file, and
   * leftovers of killed servers. Stops early when the signal is aborted.
   */
  async sweep(now: number, keepBatchSeconds: number | null, signal?: AbortSignal): Promise<void> {
    for (const id of this.files.expired(now)) {
      if (signal?.aborted) return;
      await rm(this.contentPath(id), { force: true });
    }
    this.files.forgetExpired(now - CURSOR_S);
    if (keepBatchSeconds !== null) this.batches.forgetEnded(now - keepBatchSeconds, now);
    for await (const name of this.names("files", signal)) {
      const path = join(this.folder, "files", name);
      // Nothing may happen between the check and the removal: a batch may make a leftover its output file.
      if (!this.files.has(basename(name, ".part")) && isOld(path, now)) rmSync(path, { force: true });
    }
    for await (const id of this.names("batches", signal)) {
      const ended = this.batches.isEnded(id);
      const isLeft = ended && (this.batches.get(id) || isOld(this.batchFolder(id), now));
      if (isLeft) await rm(this.batchFolder(id), { recursive: true, force: true });
    }
    this.quota.forget();
  }

  /** Emits the names in a folder, few per turn of the event loop, until the signal is aborted. */
  private async *names(folder: string, signal?: AbortSignal): AsyncGenerator<string, void, void> {
    const names = await readdir(join(this.folder, folder));
    for (const [at, name] of names.entries()) {
      if (at % NAMES_IN_A_TURN === 0) await nextTurn();
      if (signal?.aborted) return;
      yield name;
    }
  }

  /** Returns whether another server has written here. An upload may claim space after the store is closed. */
  private isShared(): boolean {
    return !this.isClosed && foreignVersion(this.database) !== this.versionAtOpening;
  }

  private batchFolder(id: string): string {
    return join(this.folder, "batches", id);
  }
}

/** Returns whether a path without a record is too old to belong to unfinished work. */
function isOld(path: string, now: number): boolean {
  let found: Stats;
  try {
    found = statSync(path);
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
  return found.mtimeMs < (now - OLDEST_WORK_S) * 1000;
}
