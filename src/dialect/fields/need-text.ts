// Texts that a request must have although its schema does not require them.

import { received } from "../../contract/schema.ts";
import { fieldError, missing } from "../../domain/errors.ts";

/** Returns a text that must be present. `what`: what it must be. Throws SvcError naming the field. */
export function needText(value: unknown, param: string, what = "a string"): string {
  if (typeof value === "string") return value;
  if (value == null) throw missing(param, what);
  throw fieldError("invalid_type", param, `must be a string; got ${received(value)}`);
}
