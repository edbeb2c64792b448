// What is known of files, beside their content.

import type { Database } from "bun:sqlite";
import { readPage, type Page, type PageRequest } from "./page.ts";

export type FilePurpose = "batch" | "batch_output";

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

/** An expired file is not there any more, whether its content is gone or not. */
const THERE = "(expiresAt IS NULL OR expiresAt > $now)";

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

  /** False when there is none. */
  delete(id: string): boolean {
    return this.database.query("DELETE FROM files WHERE id = ?").run(id).changes > 0;
  }

  /** Forgets expired files; their ids. */
  deleteExpired(now: number): string[] {
    const sql = `DELETE FROM files WHERE NOT ${THERE} RETURNING id`;
    return this.database
      .query<{ id: string }, { now: number }>(sql)
      .all({ now })
      .map(({ id }) => id);
  }

  has(id: string): boolean {
    return this.database.query("SELECT 1 FROM files WHERE id = ?").get(id) !== null;
  }
}
