// The error for an invalid schema.

import { fieldError, shownName, type SvcError } from "../domain/errors.ts";

const MAX_SHOWN = 200;

/**
 * Returns an SvcError that says where in the schema the problem is. `at` is a JSON pointer. Names in it that are not
 * plain identifiers are shown as `…`, so that a client's free text is not echoed.
 */
export function fault(param: string, at: string, problem: string): SvcError {
  const shown = at
    .split("/")
    .map((token, index) => (index === 0 ? token : shownName(token)))
    .join("/");
  const place = shown === "" ? "" : ` at '${shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}…` : shown}'`;
  return fieldError("invalid_value", param, `is not a usable JSON schema${place}: ${problem}`);
}
