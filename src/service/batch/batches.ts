// Creates, lists and cancels batches, and runs a few concurrently. Other processes may work on the same folder.

import type { BatchEndpoint } from "../../contract/batches.ts";
import type { BatchCall } from "../../dialect/batches/decode.ts";
import { unixSeconds } from "../../domain/clock.ts";
import { fieldError, shuttingDown, SvcError } from "../../domain/errors.ts";
import { newBatchId, newFileId } from "../../domain/ids.ts";
import { pause } from "../../domain/pause.ts";
import { Semaphore } from "../../domain/semaphore.ts";
import type { PageRequest } from "../../domain/page-request.ts";
import type { BatchRecord } from "../../store/batch-records.ts";
import type { JobStore } from "../../store/job-store.ts";
import { emptyPage, type Page } from "../../store/page.ts";
import { isMissing, storageError, withStorage } from "../../store/storage-error.ts";
import { ENTRY_BYTES } from "../../store/storage-quota.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { AnswerLine } from "./answer-line.ts";
import { BatchRun, type BatchRunDeps } from "./batch-run.ts";
import type { JobFolder } from "./job-folder.ts";

/** `linesAtOnce` also limits the lines of all batches together. */
interface BatchOptions extends Omit<BatchRunDeps, "store" | "places" | "suspects" | "memory"> {
  readonly folder: JobFolder;
  readonly answers: Readonly<Record<BatchEndpoint, AnswerLine>>;
  readonly log: Logger;
  /** Seconds to keep batches after their end, unless their output is kept longer; null: forever. */
  readonly keepBatchSeconds: number | null;
}

/** Milliseconds between scans for batches that no process runs, and between sweeps of expired files and batches. */
const SCAN_MS = 1000;
const SWEEP_MS = 600_000;
/** Milliseconds until a batch that could not continue, for example because the disk was full, is tried again. */
const RETRY_MS = 10_000;
/** Maximum milliseconds to wait for the check of a new batch's lines. */
const VALIDATION_PATIENCE_MS = 60_000;
const VALIDATION_POLL_MS = 20;

/**
 * Maximum number of batches whose lines are answered concurrently, or `linesAtOnce` if larger; others wait, the oldest
 * first. Work without answers (checking new batches, ending others) does not wait for them, and has this limit of its
 * own.
 */
const RUNS_AT_ONCE = 16;

/** Maximum number of locks that are held for waiting batches: each is two open files and 160 KB of memory. */
const MOST_LOCKS = 200;

/** Maximum bytes of lines of more than a megabyte that are in memory at the same time; their values take as much again. */
const LONG_LINES_BYTES = 128 * 2 ** 20;

type Work = "settle" | "answer";

interface LiveRun {
  readonly work: Work;
  readonly run: BatchRun;
  readonly ended: Promise<void>;
}

export class BatchesService {
  private readonly runs = new Map<string, LiveRun>();
  private readonly retryAt = new Map<string, number>();
  /** Batches that were created here and have not ended. */
  private readonly own = new Set<string>();
  /** The locks of batches that were created or begun here, each held until the batch has ended if they are not many. */
  private readonly locks = new Map<string, () => void>();
  private readonly places: Semaphore;
  private readonly suspects = new Semaphore(1);
  private readonly memory = new Semaphore(LONG_LINES_BYTES);
  private readonly timers: ReturnType<typeof setInterval>[] = [];
  private takesOver = false;
  private scanFails = false;
  private sweeping: Promise<void> | undefined;
  private readonly stopping = new AbortController();

  constructor(private readonly options: BatchOptions) {
    this.places = new Semaphore(options.linesAtOnce);
  }

  /** Runs the batches that are created here. */
  start(): void {
    this.sweep();
    this.scan();
    this.timers.push(
      setInterval(() => this.scan(), SCAN_MS),
      setInterval(() => this.sweep(), SWEEP_MS),
    );
  }

  /** Runs also unfinished batches that no process runs, now and whenever another process leaves some behind. */
  takeOver(): void {
    this.takesOver = true;
    this.scan();
  }

  /** Stops all runs; lines in progress are answered by the next process. Resolves when no more data is written. */
  async stop(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    this.stopping.abort();
    for (const { run } of this.runs.values()) run.stop();
    await Promise.all([this.sweeping, ...[...this.runs.values()].map(({ ended }) => ended)]);
    for (const id of this.locks.keys()) this.unlock(id);
    this.options.folder.close();
  }

  /**
   * Creates a batch, to be answered by `model`. Throws SvcError `not_found` about the input file, `invalid_value` about
   * its purpose, `storage_full`, or `storage_unavailable` when the file's content is missing.
   */
  async create(call: BatchCall, model: string): Promise<BatchRecord> {
    await this.options.folder.turns.enter();
    const now = this.now();
    const store = this.options.folder.find();
    const input = store && withStorage(() => store.files.get(call.inputFileId, now));
    if (!store || !input) throw unknown("file", "input_file_id");
    if (input.purpose !== "batch") {
      throw fieldError("invalid_value", "input_file_id", "must name a file with purpose batch; this one has another");
    }
    const { inputFileId, endpoint, window, windowSeconds, metadata, outputSeconds = null } = call;
    const times = { createdAt: now, expiresAt: now + windowSeconds };
    const ids = { id: newBatchId(), inputFileId, outputFileId: newFileId() };
    try {
      // Without space for its output the batch could only wait.
      await store.quota.claim(ENTRY_BYTES);
      // Another server would answer it with another model.
      if (this.locks.size < MOST_LOCKS) this.lock(store, ids.id);
      store.addBatch({ ...ids, ...times, endpoint, model, outputSeconds, window, metadata });
    } catch (error) {
      this.unlock(ids.id);
      store.clear(ids.id);
      if (!isMissing(error)) throw storageError(error);
      throw new SvcError("storage_unavailable", "The content of this file is missing from the server's data folder.");
    }
    this.own.add(ids.id);
    const made = this.get(ids.id);
    this.scan();
    return made;
  }

  /** Returns a batch. Throws SvcError `not_found`. */
  get(id: string): BatchRecord {
    const batch = withStorage(() => this.options.folder.find()?.batches.get(id));
    if (batch) return batch;
    throw unknown("batch", "batch_id");
  }

  list(page: PageRequest): Page<BatchRecord> {
    const store = this.options.folder.find();
    return store ? withStorage(() => store.batches.page(page)) : emptyPage(page);
  }

  /**
   * Cancels a batch in progress, after waiting for the check of its lines to end. Throws SvcError `not_found`,
   * `shutting_down`, and `invalid_value` about a batch that is no longer in progress.
   */
  async cancel(id: string): Promise<BatchRecord> {
    const until = this.options.clock.now() + VALIDATION_PATIENCE_MS;
    while (this.get(id).status === "validating" && this.options.clock.now() < until) {
      if (this.stopping.signal.aborted) throw shuttingDown();
      await pause(VALIDATION_POLL_MS, this.stopping.signal).catch(() => {});
    }
    await this.options.folder.turns.enter();
    const { batches } = this.options.folder.open();
    if (!withStorage(() => batches.advance(id, "in_progress", "cancelling", this.now()))) {
      const message = `Only a batch in progress can be cancelled; this one is ${this.get(id).status}.`;
      throw new SvcError("invalid_value", message, { param: "batch_id" });
    }
    const cancelled = this.get(id);
    const live = this.runs.get(id);
    if (live) live.run.check();
    else {
      this.retryAt.delete(id);
      this.scan();
    }
    return cancelled;
  }

  /** Runs unfinished batches that no process runs, within the limits. Logs failures, as no caller can handle them. */
  private scan(): void {
    if (this.stopping.signal.aborted) return;
    try {
      const store = this.options.folder.find();
      if (!store) return;
      this.beginAll(store, "settle", RUNS_AT_ONCE, (most) => store.batches.toSettle(this.now(), most));
      const answered = Math.max(RUNS_AT_ONCE, this.options.linesAtOnce);
      this.beginAll(store, "answer", answered, (most) => store.batches.toAnswer(this.now(), most));
      this.scanFails = false;
    } catch (error) {
      // Logged once, not every second.
      if (!this.scanFails) this.logFailure("batches cannot be run", error);
      this.scanFails = true;
    }
  }

  /** `ids` returns the first `most` batches that may begin, in order. */
  private beginAll(store: JobStore, work: Work, atOnce: number, ids: (most: number) => readonly string[]): void {
    const live = () => [...this.runs.values()].filter((other) => other.work === work);
    const heldUp = () => live().find(({ run }) => run.isHeldUp)?.run;
    if (live().length >= atOnce && !heldUp()) return;
    const now = this.options.clock.now();
    const retryAt = (id: string) => this.retryAt.get(id) ?? 0;
    const isOurs = (id: string) => this.takesOver || this.own.has(id);
    // More are read when other servers run many of the first ones.
    for (let most = atOnce + this.runs.size + this.retryAt.size; ; most *= 2) {
      const found = ids(most);
      const due = found.filter((id) => !this.runs.has(id) && retryAt(id) <= now && isOurs(id));
      // Batches that were tried before come last, so that each gets its turn.
      for (const id of due.toSorted((a, b) => retryAt(a) - retryAt(b))) {
        if (live().length < atOnce) this.begin(store, id, work);
        else {
          // Its end triggers the next scan; the stopped batch is tried again like one that could not continue.
          const one = heldUp();
          if (!one) return;
          one.stop();
        }
      }
      if (found.length < most) return;
    }
  }

  private begin(store: JobStore, id: string, work: Work): void {
    try {
      // Trying the locks of a thousand batches of another server takes a while.
      if (!this.lock(store, id)) return void this.retryAt.set(id, this.options.clock.now() + RETRY_MS);
    } catch (error) {
      return this.postpone(id, error);
    }
    const { places, suspects, memory } = this;
    const run = new BatchRun({ ...this.options, store, places, suspects, memory }, id);
    const ended = this.follow(store, id, run).finally(() => {
      this.runs.delete(id);
      this.scan();
    });
    this.runs.set(id, { work, run, ended });
  }

  /** Takes the lock of a batch; returns false while another process has it. */
  private lock(store: JobStore, id: string): boolean {
    const unlock = this.locks.get(id) ?? store.lock(id);
    if (unlock) this.locks.set(id, unlock);
    return unlock !== undefined;
  }

  private unlock(id: string): void {
    this.locks.get(id)?.();
    this.locks.delete(id);
  }

  /** Runs a batch until it has advanced, is stopped, or cannot continue for now. Never throws. */
  private async follow(store: JobStore, id: string, run: BatchRun): Promise<void> {
    const { folder, log } = this.options;
    try {
      await folder.turns.enter();
      const before = this.get(id).status;
      await run.run();
      const hasEnded = store.batches.isEnded(id);
      if (hasEnded) this.own.delete(id);
      if (hasEnded || this.locks.size > MOST_LOCKS) this.unlock(id);
      const { status, total, completed, failed } = this.get(id);
      this.retryAt.delete(id);
      if (status !== "in_progress") log.info("batch", { batch: id, status, total, completed, failed });
      // Delays the next attempt, whatever the reason that the batch has not ended.
      else if (status === before) this.retryAt.set(id, this.options.clock.now() + RETRY_MS);
      // Windows does not remove open files, such as the lock.
      if (hasEnded) store.clear(id);
    } catch (error) {
      this.postpone(id, error);
    }
  }

  private postpone(id: string, error: unknown): void {
    this.retryAt.set(id, this.options.clock.now() + RETRY_MS);
    this.logFailure("batch interrupted, retrying", error, id);
  }

  /** Starts a sweep, unless one is running. */
  private sweep(): void {
    this.sweeping ??= this.sweepAll().finally(() => (this.sweeping = undefined));
  }

  private async sweepAll(): Promise<void> {
    // Another server may have ended those that are long due.
    const due = this.options.clock.now() - SWEEP_MS;
    for (const [id, at] of this.retryAt) if (at < due) this.retryAt.delete(id);
    try {
      await this.options.folder.find()?.sweep(this.now(), this.options.keepBatchSeconds, this.stopping.signal);
    } catch (error) {
      this.logFailure("expired files and batches cannot be removed", error);
    }
  }

  private logFailure(what: string, error: unknown, batch?: string): void {
    const known = storageError(error);
    if (!(known instanceof SvcError)) return this.options.onUnexpected(error, batch ?? "batches");
    this.options.log.warn(what, { ...(batch !== undefined && { batch }), code: known.code, reason: known.message });
  }

  private now(): number {
    return unixSeconds(this.options.clock);
  }
}

const unknown = (what: string, param: string) =>
  new SvcError("not_found", `No ${what} with this id is stored.`, { param });
