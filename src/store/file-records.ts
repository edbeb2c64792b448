// What is known of files, beside their content.

import type { Database } from "bun:sqlite";
import type { PageRequest } from "../domain/page-request.ts";
import { readPage, type Page } from "./page.ts";

export const FILE_PURPOSES = ["batch", "batch_output", "ocr"] as const;
type FilePurpose = (typeof FILE_PURPOSES)[number];

export interface FileRecord {
  readonly id: string;
  readonly bytes: number;
  readonly filename: string;
  readonly purpose: FilePurpose;
  /** Unix seconds, like all times here. */
  readonly createdAt: number;
  /** Null: it stays until it is deleted. */
  readonly expiresAt: number | null;
}

/** What the files of a purpose are together. */
interface FileTotals {
  readonly count: number;
  readonly bytes: number;
}

/** An expired file is not there any more, whether its content is gone or not. */
export const THERE = "(expiresAt IS NULL OR expiresAt > $now)";

export class FileRecords {
  constructor(private readonly database: Database) {}

  /** Adding a file that is there already changes nothing. */
  add(file: FileRecord): void {
    this.database
      .query(
        `INSERT INTO files (id, bytes, filename, purpose, createdAt, expiresAt)
         VALUES ($id, $bytes, $filename, $purpose, $createdAt, $expiresAt) ON CONFLICT (id) DO NOTHING`,
      )
      .run({ ...file });
  }

  get(id: string, now: number): FileRecord | undefined {
    const sql = `SELECT * FROM files WHERE id = $id AND ${THERE}`;
    return this.database.query<FileRecord, { id: string; now: number }>(sql).get({ id, now }) ?? undefined;
  }

  /** Throws SvcError `not_found` when the page is to begin after no file. */
  page(request: PageRequest, purpose: string | undefined, now: number): Page<FileRecord> {
    const condition = `${THERE} AND ($purpose IS NULL OR purpose = $purpose)`;
    return readPage(this.database, "files", request, condition, { now, purpose: purpose ?? null });
  }

  /** A file expires now; false when there is none. */
  expire(id: string, now: number): boolean {
    const sql = `UPDATE files SET expiresAt = $now WHERE id = $id AND ${THERE}`;
    return this.database.query(sql).run({ id, now }).changes > 0;
  }

  /** Ids of expired files that are not forgotten. */
  expired(now: number): string[] {
    const sql = `SELECT id FROM files WHERE NOT ${THERE}`;
    return this.database
      .query<{ id: string }, { now: number }>(sql)
      .all({ now })
      .map(({ id }) => id);
  }

  /** Forgets files that had expired at a time: until then, a page may begin after one. */
  forgetExpired(by: number): void {
    this.database.query(`DELETE FROM files WHERE NOT ${THERE}`).run({ now: by });
  }

  totals(now: number): ReadonlyMap<FilePurpose, FileTotals> {
    const sql = `SELECT purpose, count(*) AS count, sum(bytes) AS bytes FROM files WHERE ${THERE} GROUP BY purpose`;
    const rows = this.database.query<FileTotals & { purpose: FilePurpose }, { now: number }>(sql).all({ now });
    return new Map(rows.map(({ purpose, count, bytes }) => [purpose, { count, bytes }]));
  }

  has(id: string): boolean {
    return this.database.query("SELECT 1 FROM files WHERE id = ?").get(id) !== null;
  }
}
