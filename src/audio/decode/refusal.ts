// Why a sound is not taken.

import { SvcError } from "../../domain/errors.ts";

/** The file has something in it that is not decoded here; another program may. */
export class UnsupportedSound extends Error {
  override readonly name = "UnsupportedSound";
}

/** The error for the client, which reads as "'field' must `rule`; got `got`." Neither holds text of the client's. */
export const refusal = (field: string, rule: string, got: string): SvcError =>
  new SvcError("invalid_value", `'${field}' must ${rule}; got ${got}.`, { param: field });
