// Compares two configurations, to say what a reload does not apply.

import type { Config } from "./config.ts";
import { isRow, nameOf, type Rows } from "./option.ts";
import { table } from "./options.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Returns the names of the options with another value in `after`; of files that were read, also of another content. */
export const changedOptions = (before: Config, after: Config): string[] => changed(table, { ...before }, { ...after });

const changed = (rows: Rows, before: Fields, after: Fields): string[] =>
  Object.entries(rows).flatMap(([field, row]) => {
    const [old, fresh] = [before[field], after[field]];
    if (!isRow(row)) return changed(row, (old ?? {}) as Fields, (fresh ?? {}) as Fields);
    return Bun.deepEquals(old, fresh) ? [] : [nameOf(field, row)];
  });
