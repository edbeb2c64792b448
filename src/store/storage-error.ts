// What goes wrong with a disk or a database, as a client hears it: never a path, never a text of the library.

import { SvcError } from "../domain/errors.ts";
import { systemErrorCode } from "../domain/system-error-code.ts";

const FULL = new Set(["ENOSPC", "EDQUOT", "SQLITE_FULL"]);

/** The failure of an operation on files or the database in `folder` as an SvcError; what is none of these comes back as it is. */
export function storageError(error: unknown, folder = "data folder (--data-dir)"): unknown {
  if (error instanceof SvcError) return error;
  const code = systemErrorCode(error);
  if (code === undefined) return error;
  if (FULL.has(code)) {
    return new SvcError("storage_full", `The disk of the server's ${folder} is full: make room, then try again.`);
  }
  if (!/^(SQLITE_|E[A-Z]+$)/.test(code)) return error;
  const message = `The server's ${folder} cannot be used: ${code}.`;
  return new SvcError("storage_unavailable", message);
}

/** Runs `work`; its failures are thrown as `storageError` tells them. */
export function withStorage<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw storageError(error);
  }
}

/** Whether nothing is at a path. */
export const isMissing = (error: unknown): boolean => systemErrorCode(error) === "ENOENT";

/** Whether something is at a path already. */
export const isThere = (error: unknown): boolean => systemErrorCode(error) === "EEXIST";

/** Whether another connection holds the lock that a database would need. */
export const isBusy = (error: unknown): boolean => systemErrorCode(error)?.startsWith("SQLITE_BUSY") === true;
