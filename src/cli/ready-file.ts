// `--ready-file`: tells scripts and service managers when a server can answer.

import { accessSync, constants, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { fileReason } from "../domain/system-error-code.ts";
import { replaceFile } from "../store/replace-file.ts";
import type { Logger } from "../telemetry/log.ts";
import { ExitError, orExit } from "./exit-codes.ts";

/** A file that exists while the server is ready. Does nothing without a path. */
export class ReadyFile {
  private isWritten = false;
  private isClosed = false;

  /**
   * Throws ExitError when the folder is not writable. An existing file stays until the port is known to be free: it may be
   * another server's.
   */
  constructor(private readonly path: string | undefined) {
    if (path === undefined) return;
    orExit(() => accessSync(dirname(path), constants.W_OK), failure(path));
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory())
      throw new ExitError("failure", sentence(path, "it is a folder"));
  }

  /** Removes a file that an earlier server has left. Throws ExitError. */
  clear(): void {
    const { path } = this;
    if (path !== undefined) orExit(() => rmSync(path, { force: true }), failure(path));
  }

  /** Writes the address into the file atomically; does nothing once closed. Throws ExitError. */
  write(url: string): void {
    const { path } = this;
    if (path === undefined || this.isClosed) return;
    orExit(() => replaceFile(path, `${url}\n`), failure(path));
    this.isWritten = true;
  }

  /** Removes the file if this server has written it. A failure is only logged, since the server must still stop. */
  close(log: Pick<Logger, "error">): void {
    this.isClosed = true;
    if (!this.isWritten) return;
    this.isWritten = false;
    try {
      this.clear();
    } catch (error) {
      log.error((error as ExitError).message);
    }
  }
}

const sentence = (path: string, why: string) => `The file of --ready-file, ${path}, cannot be written: ${why}.`;

const failure = (path: string) => (error: unknown) => sentence(path, fileReason(error));
