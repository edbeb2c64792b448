// The errors for invalid schemas.

import { fieldError, shownName, SvcError } from "../domain/errors.ts";
import { under } from "./schema-node.ts";

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

/** A keyword has the right form, but no value can satisfy it, or svc cannot know which do. */
export class UnusableKeyword extends SvcError {
  constructor(
    param: string,
    at: string,
    readonly keyword: string,
    problem: string,
  ) {
    const { code, message, details } = fault(param, under(at, keyword), problem);
    super(code, message, details);
  }
}
