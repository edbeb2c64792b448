// Standard output at the pace of who reads it.

import { fileReason, systemErrorCode } from "../domain/system-error-code.ts";
import { ExitError } from "./exit-codes.ts";

/** Resolves when it was taken; with false when nobody reads any more (`| head`). Throws ExitError when it cannot be written. */
export function writeOut(content: string | Uint8Array): Promise<boolean> {
  const { stdout } = process;
  // Failures are told to the call.
  if (stdout.listenerCount("error") === 0) stdout.on("error", () => {});
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  stdout.write(content, (error) => {
    if (!error) return resolve(true);
    if (systemErrorCode(error) === "EPIPE") return resolve(false);
    reject(new ExitError("failure", `Standard output cannot be written: ${fileReason(error)}.`));
  });
  return promise;
}
