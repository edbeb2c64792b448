// The one validated configuration that the rest of the program receives. Its fields are the rows of the options table;
// nothing else reads the environment.

import type { ApiKey } from "./api-keys.ts";
import type { Environment } from "./environment.ts";
import { isRow, nameOf, type Row, type Rows } from "./option.ts";
import type { table } from "./options.ts";
import type { Tls } from "./tls.ts";

type Table = FieldsOf<typeof table>;

/** The options, without those that only determine how others are read. */
export interface Config extends Omit<
  Table,
  "configFile" | "verbose" | "quiet" | "gateway" | "apiKeys" | "apiKeyFiles" | "tls"
> {
  /** If present, the server uses HTTPS. */
  readonly tls?: Tls;
  /** If empty, requests need no key. */
  readonly apiKeys: readonly ApiKey[];
  readonly gateway: Omit<Table["gateway"], "keys">;
  /** `models` in `dataDir`, unless the option names another folder. */
  readonly modelsDir: string;
}

type Value<T> = T extends Row<infer V> ? V : FieldsOf<T>;
type Optional<T> = { [K in keyof T]: T[K] extends Row<infer V> ? (undefined extends V ? K : never) : never }[keyof T];

/** The values of rows, in the same shape; a field with neither value nor default is absent. */
type FieldsOf<T> = { readonly [K in Exclude<keyof T, Optional<T>>]: Value<T[K]> } & {
  readonly [K in Optional<T>]?: Exclude<Value<T[K]>, undefined>;
};

/** Returns the fields of these rows. `given` returns the value of an option, or undefined. Throws UsageError. */
export function fieldsOf<T extends Rows>(
  rows: T,
  given: (name: string) => unknown,
  environment: Environment,
): FieldsOf<T> {
  const fields = Object.entries(rows).map(([field, row]) => [
    field,
    isRow(row) ? row.toConfig(given(nameOf(field, row)), environment) : fieldsOf(row, given, environment),
  ]);
  // For each row, `toConfig` returns the type that FieldsOf declares.
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as FieldsOf<T>;
}
