// Recordings that are being recognised.

import type { BodyBudget } from "../domain/body-budget.ts";
import { SvcError } from "../domain/errors.ts";
import { TemporaryFiles, type TemporaryFile } from "./temporary-files.ts";

const MB = 1024 * 1024;

export type Recording = TemporaryFile;

export class Recordings extends TemporaryFiles {
  /** `parent`: the folder for temporary files. `largest`: bytes of one recording. `budget`: of all that is put there. */
  constructor(parent: string, largest: number, budget: BodyBudget) {
    super({ parent, prefix: "svc-recordings-", largest, tooLarge: (param) => tooLarge(param, largest), budget });
  }
}

function tooLarge(param: string, largest: number): SvcError {
  const limit = Math.floor(largest / MB);
  const message = `'${param}' is too large: this server takes recordings of at most ${limit} MB (--max-audio-mb).`;
  return new SvcError("payload_too_large", message, { param });
}
