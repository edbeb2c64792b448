// The client's names of the fields that errors mention.

import type { Generation } from "../../domain/generate.ts";

/** Maps the usual names of fields in errors to the client's own; undefined: the names are the same. */
export function fieldNames(names: Readonly<Record<string, string | undefined>>): Pick<Generation, "fieldNames"> {
  const other = Object.entries(names).filter(([usual, own]) => own !== undefined && own !== usual);
  return other.length > 0 ? { fieldNames: Object.fromEntries(other) as Record<string, string> } : {};
}
