// The error about a schema that is none.

import { fieldError, shownName, type SvcError } from "../domain/errors.ts";

const MAX_SHOWN = 200;

/**
 * An SvcError that says where in the schema the problem is. `at` is a JSON pointer; names in it that are no plain
 * identifiers are shown as `…`, so that free text of a client does not come back.
 */
export function fault(param: string, at: string, problem: string): SvcError {
  const shown = at
    .split("/")
    .map((token, index) => (index === 0 ? token : shownName(token)))
    .join("/");
  const place = shown === "" ? "" : ` at '${shown.length > MAX_SHOWN ? `${shown.slice(0, MAX_SHOWN)}…` : shown}'`;
  return fieldError("invalid_value", param, `is not a usable JSON schema${place}: ${problem}`);
}
