// Reads pages of a table whose rows are numbered in order of creation.

import type { Database } from "bun:sqlite";
import { fieldError } from "../domain/errors.ts";
import type { PageRequest } from "../domain/page-request.ts";

type Values = Record<string, string | number | null>;

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
}

/**
 * Returns a page of the rows of `table` that match `condition`, an SQL expression with `values`. Throws SvcError
 * `not_found` when the page should begin after an unknown row.
 */
export function readPage<Row>(
  database: Database,
  table: "files" | "batches",
  { limit, order, after }: PageRequest,
  condition = "TRUE",
  values: Values = {},
): Page<Row> {
  const start = after === undefined ? undefined : sequenceOf(database, table, after);
  const beyond = start === undefined ? "TRUE" : order === "asc" ? "seq > $start" : "seq < $start";
  const sql = `SELECT * FROM ${table} WHERE (${condition}) AND ${beyond} ORDER BY seq ${order} LIMIT $limit`;
  const all = { ...values, ...(start !== undefined && { start }), limit: limit + 1 };
  const rows = database.query<Row, Values>(sql).all(all);
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}

/** Returns an empty page, for a missing store. Throws SvcError `not_found` if the page should begin after a row. */
export function emptyPage({ after }: PageRequest): Page<never> {
  if (after !== undefined) throw notStored();
  return { rows: [], hasMore: false };
}

function sequenceOf(database: Database, table: string, id: string): number {
  const found = database.query<{ seq: number }, [string]>(`SELECT seq FROM ${table} WHERE id = ?`).get(id);
  if (found) return found.seq;
  throw notStored();
}

const notStored = () => fieldError("not_found", "after", "names nothing that is stored");
