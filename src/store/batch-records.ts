// The state of batch jobs. A job is changed by the one server that runs it, but for its cancelling.

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

/** Those in which there is nothing left to do. */
const ENDED = ["completed", "failed", "cancelled", "expired"] as const;
const IS_ENDED = `status IN (${ENDED.map((status) => `'${status}'`).join(", ")})`;

/** Something that is wrong with a batch, of a line of its input or of all of it. */
export interface BatchFault {
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
  /** The first line is 1. */
  readonly line: number | null;
}

export type BatchUsage = Pick<Usage, "promptTokens" | "cachedTokens" | "completionTokens" | "reasoningTokens">;

/** How far a batch is. */
export interface BatchProgress {
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly usage: BatchUsage;
}

/** What a batch is from its beginning on. */
export interface NewBatch {
  readonly id: string;
  readonly endpoint: string;
  readonly model: string;
  readonly inputFileId: string;
  readonly outputFileId: string;
  /** Seconds that the output file is kept; null: until it is deleted. */
  readonly outputSeconds: number | null;
  /** The completion window as it was asked for. */
  readonly window: string;
  /** Unix seconds, like all times here. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly metadata: Readonly<Record<string, string>> | null;
}

export interface BatchRecord extends NewBatch, Omit<BatchProgress, "usage"> {
  readonly status: BatchStatus;
  /** When it came to a status. */
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

  /** Throws SvcError `not_found` when the page is to begin after no batch. */
  page(request: PageRequest): Page<BatchRecord> {
    const { rows, hasMore } = readPage<Row>(this.database, "batches", request);
    return { rows: rows.map(recordOf), hasMore };
  }

  /** Ids of the batches with lines to be answered at `now`, the oldest first. */
  toAnswer(now: number): string[] {
    return this.ids("status = 'in_progress' AND expiresAt > ?", now);
  }

  /** Ids of those that go on without an answer: they are to be checked, or are at an end at `now`. */
  toSettle(now: number): string[] {
    return this.ids(`NOT ${IS_ENDED} AND (status <> 'in_progress' OR expiresAt <= ?)`, now);
  }

  /** Whether there is nothing left to do for a batch, or there is none. */
  isEnded(id: string): boolean {
    return this.database.query(`SELECT 1 FROM batches WHERE id = ? AND NOT ${IS_ENDED}`).get(id) === null;
  }

  /** Brings a batch from one status to the next; false when it has another status meanwhile. */
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

  /** The same for looking at only: a loss of power may take it, and SQLITE_BUSY is thrown when another server writes. */
  showProgress(id: string, progress: BatchProgress): void {
    writeLightly(this.database, () => this.setProgress(id, progress));
  }

  /** Forgets batches that had ended at `by`, but for those whose output is a file at `now`. */
  forgetEnded(by: number, now: number): void {
    const sql = `DELETE FROM batches WHERE ${IS_ENDED} AND json_extract(times, '$.' || status) <= $by
                 AND NOT EXISTS (SELECT 1 FROM files WHERE files.id = outputFileId AND ${THERE})`;
    this.database.query(sql).run({ by, now });
  }

  /** How many there are of each status that occurs. */
  counts(): ReadonlyMap<BatchStatus, number> {
    const sql = "SELECT status, count(*) AS count FROM batches GROUP BY status";
    const rows = this.database.query<{ status: BatchStatus; count: number }, []>(sql).all();
    return new Map(rows.map(({ status, count }) => [status, count]));
  }

  /** Lines without an answer, of all batches in progress. */
  linesWaiting(): number {
    const sql = "SELECT sum(total - completed - failed) AS lines FROM batches WHERE status = 'in_progress'";
    return this.database.query<{ lines: number | null }, []>(sql).get()?.lines ?? 0;
  }

  private ids(condition: string, now: number): string[] {
    return this.database
      .query<{ id: string }, [number]>(`SELECT id FROM batches WHERE ${condition} ORDER BY seq`)
      .all(now)
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
