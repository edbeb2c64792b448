// The tables of symbols that the bindings of the native libraries use.

import { Glob } from "bun";
import { dirname, join } from "node:path";

/** What a `symbols.ts` exports. */
interface SymbolTable {
  readonly symbols: Readonly<Record<string, { readonly args: readonly string[]; readonly returns: string }>>;
  readonly enums: Readonly<Record<string, readonly string[]>>;
  readonly ABI_VERSION?: number;
}

export const ffi = join(import.meta.dir, "../../ffi");

const load = async (path: string) => [dirname(path), (await import(join(ffi, path))) as SymbolTable] as const;

/** The tables by their folder in ffi; each library also has the symbols of `common`. */
export const symbolTables = Object.fromEntries(
  await Promise.all([...new Glob("*/symbols.ts").scanSync(ffi)].sort().map(load)),
);
