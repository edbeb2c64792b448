// `--ready-file`: tells scripts and service managers when a server can answer.

import { accessSync, constants, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileReason } from "../domain/system-error-code.ts";
import { ExitError } from "./exit-codes.ts";

/** A file that exists while the server is ready. Does nothing without a path. */
export class ReadyFile {
  /**
   * Throws ExitError when the folder is not writable. An existing file stays until the port is bound: it may be another
   * server's.
   */
  constructor(private readonly path: string | undefined) {
    this.orFail(() => {
      if (path !== undefined) accessSync(dirname(path), constants.W_OK);
    });
  }

  /** Writes the address into the file atomically. Throws ExitError. */
  write(url: string): void {
    const { path } = this;
    if (path === undefined) return;
    this.orFail(() => {
      const part = `${path}.part-${process.pid}`;
      writeFileSync(part, `${url}\n`);
      renameSync(part, path);
    });
  }

  remove(): void {
    if (this.path !== undefined) rmSync(this.path, { force: true });
  }

  private orFail(work: () => void): void {
    try {
      work();
    } catch (error) {
      throw new ExitError(
        "failure",
        `The file of --ready-file, ${this.path}, cannot be written: ${fileReason(error)}.`,
      );
    }
  }
}
