// A lock that one process holds and the system takes back when that ends, however it ends: SQLite's, on a file of its own.

import { Database } from "bun:sqlite";

/** Takes the lock; undefined when another holds it. The returned function gives it back. */
export function tryLock(path: string): (() => void) | undefined {
  const database = new Database(path, { create: true });
  try {
    database.run("PRAGMA busy_timeout = 0");
    // Nothing is written, so nothing is left behind but an empty file.
    database.run("BEGIN EXCLUSIVE");
    return () => database.close();
  } catch (error) {
    database.close();
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code.startsWith("SQLITE_BUSY")) return undefined;
    throw error;
  }
}
