// `--ready-file`: for scripts and service managers that wait until a server can answer.

import { accessSync, constants, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileReason } from "../domain/system-error-code.ts";
import { ExitError } from "./exit-codes.ts";

/** The file that is there while the server is ready; without a path, nothing. */
export class ReadyFile {
  /** Throws ExitError where nothing can be written. What is there stays until the port is ours: it may be another server's. */
  constructor(private readonly path: string | undefined) {
    this.orFail(() => {
      if (path !== undefined) accessSync(dirname(path), constants.W_OK);
    });
  }

  /** Puts the address in, whole from the first moment. Throws ExitError. */
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
