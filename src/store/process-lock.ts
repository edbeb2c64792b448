// A lock that one process holds and the system takes back when that ends, however it ends: SQLite's, on a file of its own.

import { Database } from "bun:sqlite";
import { isBusy } from "./storage-error.ts";

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
    if (isBusy(error)) return undefined;
    throw error;
  }
}
