// What the client calls the fields that refusals name.

import type { Generation } from "../../domain/generate.ts";

/** The client's own names of fields, by those that refusals give them; undefined: they are the same. */
export function fieldNames(names: Readonly<Record<string, string | undefined>>): Pick<Generation, "fieldNames"> {
  const other = Object.entries(names).filter(([usual, own]) => own !== undefined && own !== usual);
  return other.length > 0 ? { fieldNames: Object.fromEntries(other) as Record<string, string> } : {};
}
