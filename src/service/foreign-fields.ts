// Refuses request fields that only some other servers support.

import { fieldError } from "../domain/errors.ts";
import type { Backend } from "./model-router.ts";

/** Throws SvcError `unsupported_parameter` about such fields unless the backend handles them. */
export function refuseForeign(
  { foreign = {} }: { readonly foreign?: Readonly<Record<string, unknown>> },
  { takesForeignFields }: Backend<unknown>,
): void {
  const [param] = Object.keys(foreign);
  if (takesForeignFields || param === undefined) return;
  throw fieldError("unsupported_parameter", param, "is not supported");
}
