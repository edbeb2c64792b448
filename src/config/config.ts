// The one validated configuration that the rest of the program receives. Its fields are the rows of the options table;
// nothing else reads the environment.

import type { ApiKey } from "./api-keys.ts";
import type { Environment } from "./environment.ts";
import { isRow, nameOf, type Row, type Rows } from "./option.ts";
import type { table } from "./options.ts";
import type { Tls } from "./tls.ts";

type Table = FieldsOf<typeof table>;

/** Without what only says how other options are meant. */
export interface Config extends Omit<
  Table,
  "configFile" | "verbose" | "quiet" | "gateway" | "apiKeys" | "apiKeyFiles" | "tls"
> {
  /** Present: HTTPS is served. */
  readonly tls?: Tls;
  /** Empty: requests need none. */
  readonly apiKeys: readonly ApiKey[];
  readonly gateway: Omit<Table["gateway"], "keys">;
  /** In `dataDir` unless it is named. */
  readonly modelsDir: string;
}

type Value<T> = T extends Row<infer V> ? V : FieldsOf<T>;
type Optional<T> = { [K in keyof T]: T[K] extends Row<infer V> ? (undefined extends V ? K : never) : never }[keyof T];

/** The values of rows, in the same shape; what has neither value nor default is absent. */
type FieldsOf<T> = { readonly [K in Exclude<keyof T, Optional<T>>]: Value<T[K]> } & {
  readonly [K in Optional<T>]?: Exclude<Value<T[K]>, undefined>;
};

/** The fields of these rows. `given`: the value of an option by its name, or undefined. Throws UsageError. */
export function fieldsOf<T extends Rows>(
  rows: T,
  given: (name: string) => unknown,
  environment: Environment,
): FieldsOf<T> {
  const fields = Object.entries(rows).map(([field, row]) => [
    field,
    isRow(row) ? row.toConfig(given(nameOf(field, row)), environment) : fieldsOf(row, given, environment),
  ]);
  // What the type says of each row, `toConfig` returned.
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as FieldsOf<T>;
}
