// Stores the state of batch jobs. Only the server that runs a job changes it, except for cancelling.

import type { Database } from "bun:sqlite";
import type { Usage } from "../domain/usage.ts";
import { THERE } from "./file-records.ts";
import { writeLightly } from "./job-database.ts";
import type { PageRequest } from "../domain/page-request.ts";
import { readPage, type Page } from "./page.ts";

export const BATCH_STATUSES = [
  "validating",
  "in_progress",
  "finalizing",
  "completed",
  "failed",
  "cancelling",
  "cancelled",
  "expired",
] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

/** Statuses in which no work is left. */
const ENDED = ["completed", "failed", "cancelled", "expired"] as const;
const listed = (statuses: readonly BatchStatus[]) => statuses.map((status) => `'${status}'`).join(", ");
const IS_ENDED = `status IN (${listed(ENDED)})`;
/** Statuses in which work is left, but no line to answer. */
const SETTLING = listed(["validating", "finalizing", "cancelling"]);

/** A fault of a batch: of one line of its input, or of all of it. */
export interface BatchFault {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  /** Line number, from 1; null: the fault concerns the whole batch. */
  readonly line: number | null;
}

export type BatchUsage = Pick<Usage, "promptTokens" | "cachedTokens" | "completionTokens" | "reasoningTokens">;

/** The progress of a batch. */
export interface BatchProgress {
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly usage: BatchUsage;
}

/** The fields that a batch has from its creation on. */
export interface NewBatch {
  readonly id: string;
  readonly endpoint: string;
  readonly model: string;
  readonly inputFileId: string;
  readonly outputFileId: string;
  /** Seconds to keep the output file; null: the server's default applies. */
  readonly outputSeconds: number | null;
  /** The completion window as requested. */
  readonly window: string;
  /** Unix seconds, like all times here. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly metadata: Readonly<Record<string, string>> | null;
}

export interface BatchRecord extends NewBatch, Omit<BatchProgress, "usage"> {
  readonly status: BatchStatus;
  /** When the batch reached each status. */
  readonly times: Readonly<Partial<Record<BatchStatus, number>>>;
  readonly usage: BatchUsage | null;
  readonly errors: readonly BatchFault[] | null;
}

interface Row extends Omit<BatchRecord, "times" | "metadata" | "usage" | "errors"> {
  readonly times: string;
  readonly metadata: string | null;
  readonly usage: string | null;
  readonly errors: string | null;
}

export class BatchRecords {
  constructor(private readonly database: Database) {}

  add(batch: NewBatch): void {
    const metadata = batch.metadata && JSON.stringify(batch.metadata);
    const columns = Object.keys(batch);
    this.database
      .query(
        `INSERT INTO batches (${columns.join(", ")}, status)
         VALUES (${columns.map((name) => `$${name}`).join(", ")}, 'validating')`,
      )
      .run({ ...batch, metadata });
  }

  get(id: string): BatchRecord | undefined {
    const row = this.database.query<Row, [string]>("SELECT * FROM batches WHERE id = ?").get(id);
    return row ? recordOf(row) : undefined;
  }

  /** Returns a page of batches. Throws SvcError `not_found` when the page should begin after an unknown batch. */
  page(request: PageRequest): Page<BatchRecord> {
    const { rows, hasMore } = readPage<Row>(this.database, "batches", request);
    return { rows: rows.map(recordOf), hasMore };
  }

  /** Returns the ids of at most `most` batches with lines to answer at `now`, the oldest first. */
  toAnswer(now: number, most: number): string[] {
    // The plus keeps SQLite from the index by expiry, which has another order.
    return this.ids("status = 'in_progress' AND +expiresAt > $now", now, most);
  }

  /**
   * Returns the ids of at most `most` batches to advance without answering lines, the oldest first: those to check, and
   * those that end at `now`.
   */
  toSettle(now: number, most: number): string[] {
    return this.ids(`status IN (${SETTLING}) OR (status = 'in_progress' AND expiresAt <= $now)`, now, most);
  }

  /** Returns whether no work is left for a batch, or the batch does not exist. */
  isEnded(id: string): boolean {
    return this.database.query(`SELECT 1 FROM batches WHERE id = ? AND NOT ${IS_ENDED}`).get(id) === null;
  }

  /** Moves a batch from one status to the next; returns false when its status has changed meanwhile. */
  advance(id: string, from: BatchStatus, to: BatchStatus, at: number): boolean {
    const sql = `UPDATE batches SET status = $to, times = json_set(times, '$.' || $to, $at)
                 WHERE id = $id AND status = $from`;
    return this.database.query(sql).run({ id, from, to, at }).changes > 0;
  }

  /** Ends a batch because of faults. */
  fail(id: string, errors: readonly BatchFault[], at: number): void {
    const sql = `UPDATE batches SET status = 'failed', times = json_set(times, '$.failed', $at), errors = $errors
                 WHERE id = $id AND NOT ${IS_ENDED}`;
    this.database.query(sql).run({ id, errors: JSON.stringify(errors), at });
  }

  setProgress(id: string, { total, completed, failed, usage }: BatchProgress): void {
    const sql = `UPDATE batches SET total = $total, completed = $completed, failed = $failed, usage = $usage
                 WHERE id = $id`;
    this.database.query(sql).run({ id, total, completed, failed, usage: JSON.stringify(usage) });
  }

  /** Sets the progress for display: a power loss may lose it; throws SQLITE_BUSY when another server writes. */
  showProgress(id: string, progress: BatchProgress): void {
    writeLightly(this.database, () => this.setProgress(id, progress));
  }

  /** Deletes batches that had ended at `by`, except those whose output file exists at `now`. */
  forgetEnded(by: number, now: number): void {
    const sql = `DELETE FROM batches WHERE ${IS_ENDED} AND json_extract(times, '$.' || status) <= $by
                 AND NOT EXISTS (SELECT 1 FROM files WHERE files.id = outputFileId AND ${THERE})`;
    this.database.query(sql).run({ by, now });
  }

  /** Returns the number of batches by status; statuses without batches are absent. */
  counts(): ReadonlyMap<BatchStatus, number> {
    const sql = "SELECT status, count(*) AS count FROM batches GROUP BY status";
    const rows = this.database.query<{ status: BatchStatus; count: number }, []>(sql).all();
    return new Map(rows.map(({ status, count }) => [status, count]));
  }

  /** Returns the number of unanswered lines of all batches in progress. */
  linesWaiting(): number {
    const sql = "SELECT sum(total - completed - failed) AS lines FROM batches WHERE status = 'in_progress'";
    return this.database.query<{ lines: number | null }, []>(sql).get()?.lines ?? 0;
  }

  private ids(condition: string, now: number, most: number): string[] {
    const sql = `SELECT id FROM batches WHERE ${condition} ORDER BY seq LIMIT $most`;
    return this.database
      .query<{ id: string }, { now: number; most: number }>(sql)
      .all({ now, most })
      .map(({ id }) => id);
  }
}

function recordOf({ times, metadata, usage, errors, ...plain }: Row): BatchRecord {
  return {
    ...plain,
    times: JSON.parse(times),
    metadata: metadata === null ? null : JSON.parse(metadata),
    usage: usage === null ? null : JSON.parse(usage),
    errors: errors === null ? null : JSON.parse(errors),
  };
}
