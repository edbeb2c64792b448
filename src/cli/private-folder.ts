// Provides a folder that no other user can read.

import { mkdirSync, statSync } from "node:fs";
import { HAS_MODES, ownUid } from "../../ffi/runtime/ownership.ts";
import { systemErrorCode } from "../domain/system-error-code.ts";
import { ExitError, orExit } from "./exit-codes.ts";

/**
 * Creates or checks a folder that only its owner can open, and returns its path. Throws ExitError naming `option` when
 * it cannot be created, belongs to another user, or is open to others: this program could not protect its contents.
 */
export function privateFolder(path: string, option: string): string {
  const found = orExit(
    () => {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      return statSync(path);
    },
    (error) => `${option} ${path} cannot be used (${systemErrorCode(error) ?? "unusable"}).`,
  );
  const mode = found.mode & 0o777;
  if (found.uid !== ownUid()) throw new ExitError("failure", `${option} ${path} belongs to another user.`);
  if (HAS_MODES && (mode & 0o077) !== 0) {
    const remedy = `The folder will hold prompts: run chmod 700 ${path}, or name another folder.`;
    throw new ExitError("failure", `${option} ${path} is open to other users (mode ${mode.toString(8)}). ${remedy}`);
  }
  return path;
}
