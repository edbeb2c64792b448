// Converts errors of the disk and the database for clients, without paths or messages of the library.

import { SvcError } from "../domain/errors.ts";
import { systemErrorCode } from "../domain/system-error-code.ts";

const FULL = new Set(["ENOSPC", "EDQUOT", "SQLITE_FULL"]);

/** Converts an error of files or the database in `folder` to an SvcError; returns any other unchanged. */
export function storageError(error: unknown, folder = "data folder (--data-dir)"): unknown {
  if (error instanceof SvcError) return error;
  const code = systemErrorCode(error);
  if (code === undefined) return error;
  if (FULL.has(code)) {
    return new SvcError("storage_full", `The disk of the server's ${folder} is full: free some space, then try again.`);
  }
  if (!/^(SQLITE_|E[A-Z]+$)/.test(code)) return error;
  const message = `The server's ${folder} cannot be used: ${code}.`;
  return new SvcError("storage_unavailable", message);
}

/** Runs `work`; converts its errors with `storageError` and throws them. */
export function withStorage<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw storageError(error);
  }
}

/** Returns whether an operation failed because the path does not exist. */
export const isMissing = (error: unknown): boolean => systemErrorCode(error) === "ENOENT";

/** Returns whether an operation failed because the path exists already. */
export const isThere = (error: unknown): boolean => systemErrorCode(error) === "EEXIST";

/** Returns whether an operation failed because another connection holds the database's lock. */
export const isBusy = (error: unknown): boolean => systemErrorCode(error)?.startsWith("SQLITE_BUSY") === true;
