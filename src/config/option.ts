// Defines an option: the shape of the rows in options/.

import type { Environment } from "./environment.ts";
import type { OptionGroup } from "./options.ts";

export type OptionValue = string | number | boolean | readonly string[] | Readonly<Record<string, unknown>>;

/** The part of a row that the help shows. */
export interface Description {
  /** Long name, if it differs from the field's: `--name`, the config file key, `SVC_NAME` in the environment. */
  readonly name?: string;
  /** Other spellings: one letter or a long name. */
  readonly aliases?: readonly string[];
  readonly help: string;
  /** What an absent value means, if there is no default. */
  readonly absent?: string;
  readonly placeholder?: string;
  /** Set if messages must not show the value. */
  readonly secret?: true;
  /** Set if the value may also be a name, when there is no such file. */
  readonly orName?: true;
}

/** A type of options: how values are read. */
export interface Kind<Given> {
  readonly type: "string" | "path" | "choice" | "integer" | "number" | "boolean" | "list" | "json";
  /** Inclusive limits. */
  readonly minimum?: number;
  readonly maximum?: number;
  readonly choices?: readonly string[];
  /** What `read` accepts, for error messages. */
  readonly wanted: string;
  /** Reads a value; returns undefined if the value is invalid, and a value that it returned before unchanged. */
  readonly read: (given: unknown) => Given | undefined;
}

/** A row of the table. `Value`: type of the field in Config, including `undefined` if the field may be absent. */
export interface Row<Value = unknown> extends Description, Kind<OptionValue> {
  readonly default?: OptionValue;
  /** A useful value for the example config file, if there is no default. */
  readonly example?: OptionValue;
  /** Set if the items of a list are paths, or "adapters" if they are [NAME=]FILE[:SCALE]. */
  readonly paths?: true | "adapters";
  /** Returns the field's value for the given value. */
  readonly toConfig: (given: unknown, environment: Environment) => Value;
}

/** Rows by their fields in Config. */
export interface Rows {
  readonly [field: string]: Row | Rows;
}

/** A row with its name and group. */
export interface Option extends Row {
  readonly name: string;
  readonly group: OptionGroup;
}

/** Returns whether a node of the table is a row, not a group of rows. */
export const isRow = (node: Row | Rows): node is Row => typeof node.toConfig === "function";

/** Returns the option name of a row: `kvDirSize` becomes kv-dir-size, unless the row has a name. */
export const nameOf = (field: string, { name }: Row): string =>
  name ?? field.replaceAll(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);

/** Prefix of the environment variables for options. */
export const ENVIRONMENT_PREFIX = "SVC_";

/** Returns the environment variable of an option. */
export const environmentName = ({ name }: Pick<Option, "name">): string =>
  `${ENVIRONMENT_PREFIX}${name.toUpperCase().replaceAll("-", "_")}`;
