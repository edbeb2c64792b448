// Images that are being changed.

import type { BodyBudget } from "../domain/body-budget.ts";
import { SvcError } from "../domain/errors.ts";
import { TemporaryFiles } from "./temporary-files.ts";

/** Bytes. */
const LARGEST_PICTURE = 20 * 1024 * 1024;

export class Pictures extends TemporaryFiles {
  /** `parent`: the folder for temporary files. `budget`: of all that is put there. */
  constructor(parent: string, budget: BodyBudget) {
    super({ parent, prefix: "svc-pictures-", largest: LARGEST_PICTURE, tooLarge, budget });
  }
}

function tooLarge(param: string): SvcError {
  const limit = LARGEST_PICTURE / 1024 / 1024;
  const message = `'${param}' is too large: this server changes images of at most ${limit} MB.`;
  return new SvcError("payload_too_large", message, { param });
}
