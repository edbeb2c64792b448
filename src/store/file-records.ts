// Stores the records of files; the contents are stored elsewhere.

import type { Database } from "bun:sqlite";
import type { FilePurpose } from "../domain/file-purpose.ts";
import type { PageRequest } from "../domain/page-request.ts";
import { readPage, type Page } from "./page.ts";

export interface FileRecord {
  readonly id: string;
  readonly bytes: number;
  readonly filename: string;
  readonly purpose: FilePurpose;
  /** Unix seconds, like all times here. */
  readonly createdAt: number;
  /** null: the file is kept until it is deleted. */
  readonly expiresAt: number | null;
}

/** Totals of all files of one purpose. */
interface FileTotals {
  readonly count: number;
  readonly bytes: number;
}

/** SQL condition for existing files; an expired file no longer exists, even if its content is still on disk. */
export const THERE = "(expiresAt IS NULL OR expiresAt > $now)";

export class FileRecords {
  constructor(private readonly database: Database) {}

  /** Adds a file; does nothing if it exists already. */
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

  /** Returns a page of files. Throws SvcError `not_found` when the page should begin after an unknown file. */
  page(request: PageRequest, purpose: string | undefined, now: number): Page<FileRecord> {
    const condition = `${THERE} AND ($purpose IS NULL OR purpose = $purpose)`;
    return readPage(this.database, "files", request, condition, { now, purpose: purpose ?? null });
  }

  /** Makes a file expire now; returns false when there is none. */
  expire(id: string, now: number): boolean {
    const sql = `UPDATE files SET expiresAt = $now WHERE id = $id AND ${THERE}`;
    return this.database.query(sql).run({ id, now }).changes > 0;
  }

  /** Returns the ids of expired files whose records still exist. */
  expired(now: number): string[] {
    const sql = `SELECT id FROM files WHERE NOT ${THERE}`;
    return this.database
      .query<{ id: string }, { now: number }>(sql)
      .all({ now })
      .map(({ id }) => id);
  }

  /** Deletes the records of files that had expired at `by`; until then, a page may begin after them. */
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
