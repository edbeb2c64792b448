// Pictures and documents whose text is being recognised.

import type { BodyBudget } from "../domain/body-budget.ts";
import { SvcError } from "../domain/errors.ts";
import { TemporaryFiles } from "./temporary-files.ts";

/** Bytes. */
const LARGEST_DOCUMENT = 25 * 1024 * 1024;

export class Documents extends TemporaryFiles {
  /** `parent`: the folder for temporary files. `budget`: of all that is put there. */
  constructor(parent: string, budget: BodyBudget) {
    super({ parent, prefix: "svc-documents-", largest: LARGEST_DOCUMENT, tooLarge, budget });
  }
}

/** What is thrown about a document that is too large. */
function tooLarge(param: string): SvcError {
  const limit = LARGEST_DOCUMENT / 1024 / 1024;
  const message = `'${param}' is too large: this server reads pictures and documents of at most ${limit} MB.`;
  return new SvcError("payload_too_large", message, { param });
}
