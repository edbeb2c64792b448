// Fields that today's clients may send and that this server does not serve: refused by name, never ignored, because an
// answer that silently lacks what was requested is worse than an error.

import { SvcError } from "../../domain/errors.ts";

/** Fields of an API that have no schema here, with the test for "would have an effect". */
export type Unsupported = Readonly<Record<string, (value: unknown) => boolean>>;

export const always = (): boolean => true;
/** Many clients send an empty text or list where they mean nothing. */
export const notEmpty = (value: unknown): boolean => value !== "" && !(Array.isArray(value) && value.length === 0);

/** Throws SvcError `unsupported_parameter` about the first field of an object that requests something not served. */
export function refuseUnsupported(body: unknown, unsupported: Unsupported): void {
  const fields = body as Readonly<Record<string, unknown>>;
  const field = Object.keys(unsupported).find((name) => fields[name] != null && unsupported[name]?.(fields[name]));
  if (field) throw new SvcError("unsupported_parameter", `'${field}' is not supported.`, { param: field });
}
