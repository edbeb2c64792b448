// A lock that one process holds and the system releases whenever the process ends: SQLite's, on a separate file.

import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { pause } from "../domain/pause.ts";
import { isBusy } from "./storage-error.ts";

const POLL_MS = 200;

/**
 * Takes the lock and returns the function that releases it; undefined when another process holds it. Any number of
 * processes can hold a `shared` lock.
 */
export function tryLock(path: string, shared = false): (() => void) | undefined {
  const database = new Database(path, { create: true });
  try {
    database.run("PRAGMA busy_timeout = 0");
    // Nothing is written, so only an empty file remains.
    database.run(shared ? "BEGIN" : "BEGIN EXCLUSIVE");
    if (shared) database.query("SELECT 1 FROM sqlite_schema").all();
    // The holder before may have removed the file: the next process would lock another one.
    if (existsSync(path)) return () => database.close();
    database.close();
    return undefined;
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}

/** Waits until `take` returns the function that releases a lock; calls `waiting` before each further attempt. */
export async function awaitLock(
  take: () => Promise<(() => void) | undefined>,
  signal: AbortSignal,
  waiting: () => void = () => {},
): Promise<() => void> {
  for (;;) {
    const unlock = await take();
    if (unlock) return unlock;
    waiting();
    await pause(POLL_MS, signal);
  }
}
