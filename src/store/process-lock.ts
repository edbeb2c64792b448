// A lock that one process holds and the system releases whenever the process ends: SQLite's, on a separate file.

import { Database } from "bun:sqlite";
import { isBusy } from "./storage-error.ts";

/** Takes the lock and returns the function that releases it; undefined when another process holds it. */
export function tryLock(path: string): (() => void) | undefined {
  const database = new Database(path, { create: true });
  try {
    database.run("PRAGMA busy_timeout = 0");
    // Nothing is written, so only an empty file remains.
    database.run("BEGIN EXCLUSIVE");
    return () => database.close();
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}
