// What an option is: the shape of the rows in options/.

import type { Environment } from "./environment.ts";

export type OptionValue = string | number | boolean | readonly string[] | Readonly<Record<string, unknown>>;

/** What the help shows of every row. */
export interface Description {
  /** Long name, if it is not the field's: `--name`, the key in the config file, `SVC_NAME` in the environment. */
  readonly name?: string;
  /** Other spellings: one letter or a long name. */
  readonly aliases?: readonly string[];
  readonly help: string;
  /** What an absent value means, where there is no default. */
  readonly absent?: string;
  readonly placeholder?: string;
  /** Messages do not show its value. */
  readonly secret?: true;
  /** A model's name is taken as well, when no file is there. */
  readonly orName?: true;
}

/** How a type reads values. */
export interface Kind<Given> {
  readonly type: "string" | "path" | "choice" | "integer" | "number" | "boolean" | "list" | "json";
  /** Both inclusive. */
  readonly minimum?: number;
  readonly maximum?: number;
  readonly choices?: readonly string[];
  /** What `read` takes, for errors. */
  readonly wanted: string;
  /** Undefined: not what is wanted. A value that it returned is read as itself. */
  readonly read: (given: unknown) => Given | undefined;
}

/** A row of the table. `Value` is the type of its field in Config, with `undefined` if that may be absent. */
export interface Row<Value = unknown> extends Description, Kind<OptionValue> {
  readonly default?: OptionValue;
  /** The items of the list are paths, or [NAME=]FILE[:SCALE]. */
  readonly paths?: true | "adapters";
  /** The field's value, by what was given. */
  readonly toConfig: (given: unknown, environment: Environment) => Value;
}

/** Rows by their fields in Config. */
export interface Rows {
  readonly [field: string]: Row | Rows;
}

export const optionGroups = [
  "Model",
  "Server",
  "Gateway",
  "Generation",
  "Engine",
  "One-shot",
  "Output and files",
] as const;
export type OptionGroup = (typeof optionGroups)[number];

/** A row that knows its place. */
export interface Option extends Row {
  readonly name: string;
  readonly group: OptionGroup;
}

/** Whether a node of the table is a row, not a group of fields. */
export const isRow = (node: Row | Rows): node is Row => typeof node.toConfig === "function";

/** The name that a row has at its field: `kvDirSize` is kv-dir-size, if the row says no other. */
export const nameOf = (field: string, { name }: Row): string =>
  name ?? field.replaceAll(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);

/** How the names of all environment variables begin that are options. */
export const ENVIRONMENT_PREFIX = "SVC_";

/** The environment variable of an option. */
export const environmentName = ({ name }: Pick<Option, "name">): string =>
  `${ENVIRONMENT_PREFIX}${name.toUpperCase().replaceAll("-", "_")}`;
