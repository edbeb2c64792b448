// Writes to standard output at the reader's pace.

import { fileReason, systemErrorCode } from "../domain/system-error-code.ts";
import { ExitError } from "./exit-codes.ts";

/** Returns the columns of the terminal that standard output is; Infinity if it is none, or has no size. */
export const outputWidth = (): number => (process.stdout.isTTY && process.stdout.columns) || Infinity;

/** Resolves with true when written, false when the reader closed the pipe (`| head`). Throws ExitError otherwise. */
export function writeOut(content: string | Uint8Array): Promise<boolean> {
  const { stdout } = process;
  // The write callback reports failures; this listener keeps them from being thrown.
  if (stdout.listenerCount("error") === 0) stdout.on("error", () => {});
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  stdout.write(content, (error) => {
    if (!error) return resolve(true);
    if (systemErrorCode(error) === "EPIPE") return resolve(false);
    reject(new ExitError("failure", `Standard output cannot be written: ${fileReason(error)}.`));
  });
  return promise;
}
