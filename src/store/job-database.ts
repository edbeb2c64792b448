// Opens the database of files and batch jobs, and creates its tables.

import { Database } from "bun:sqlite";
import { SvcError } from "../domain/errors.ts";
import { ownFile, tighten } from "./owner-only.ts";
import { isBusy } from "./storage-error.ts";

const VERSION = 1;
/** Milliseconds that a write waits for a write of another server. */
const PATIENCE_MS = 5000;
const POLL_MS = 5;

const SCHEMA = `
  CREATE TABLE files (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    bytes INTEGER NOT NULL,
    filename TEXT NOT NULL,
    purpose TEXT NOT NULL,
    createdAt INTEGER NOT NULL,
    expiresAt INTEGER
  ) STRICT;
  CREATE TABLE batches (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    -- JSON: when it came to a status, by its name.
    times TEXT NOT NULL DEFAULT '{}',
    endpoint TEXT NOT NULL,
    model TEXT NOT NULL,
    inputFileId TEXT NOT NULL,
    -- Given at the beginning, so that an output that is handed over twice is the same file.
    outputFileId TEXT NOT NULL,
    outputSeconds INTEGER,
    window TEXT NOT NULL,
    createdAt INTEGER NOT NULL,
    expiresAt INTEGER NOT NULL,
    metadata TEXT,
    total INTEGER NOT NULL DEFAULT 0,
    completed INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    usage TEXT,
    errors TEXT
  ) STRICT;
  CREATE INDEX batches_by_status ON batches (status);
  CREATE INDEX batches_by_expiry ON batches (status, expiresAt);
  PRAGMA user_version = ${VERSION};
`;

/** Opens the database or creates it. Throws SQLiteError, or SvcError if another version of svc wrote it. */
export function openJobDatabase(path: string): Database {
  // SQLite creates the files beside the database with the same permissions.
  ownFile(path);
  for (const beside of ["-wal", "-shm"]) tighten(path + beside);
  const database = new Database(path, { create: true, strict: true });
  try {
    setCare(database, "careful");
    useWal(database);
    database.transaction(() => prepare(database)).immediate();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Returns a number that changes with each write of another connection, but not with those of this one. */
export const foreignVersion = (database: Database): number =>
  database.query<{ data_version: number }, []>("PRAGMA data_version").get()?.data_version ?? 0;

/** Returns the bytes of all tables and indexes, without those that removed records left free. */
export const databaseBytes = (database: Database): number =>
  database
    .query<{ bytes: number }, []>(
      `SELECT (page_count - freelist_count) * page_size AS bytes
       FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
    )
    .get()?.bytes ?? 0;

/**
 * Writes data that a power loss may take and that is soon written again. Does not wait for the disk or another server,
 * because that would block all other requests. Throws SQLiteError, with code SQLITE_BUSY when another server writes.
 */
export function writeLightly(database: Database, write: () => void): void {
  setCare(database, "light");
  try {
    write();
  } finally {
    setCare(database, "careful");
  }
}

function setCare(database: Database, care: "careful" | "light"): void {
  database.run(`PRAGMA busy_timeout = ${care === "careful" ? PATIENCE_MS : 0}`);
  database.run(`PRAGMA synchronous = ${care === "careful" ? "FULL" : "NORMAL"}`);
}

/**
 * Switches to WAL mode, retrying because the first opening changes the file's layout, and SQLite does not make two
 * concurrent openings wait for each other.
 */
function useWal(database: Database): void {
  for (let waited = 0; ; waited += POLL_MS) {
    try {
      database.run("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if (!isBusy(error) || waited >= PATIENCE_MS) throw error;
      Bun.sleepSync(POLL_MS);
    }
  }
}

function prepare(database: Database): void {
  const found = database.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version;
  if (found === 0) database.run(SCHEMA);
  else if (found !== VERSION) {
    const message = "The server's data folder (--data-dir) was written by another version of svc.";
    throw new SvcError("storage_unavailable", message);
  }
}
