// Every option of the program in one table. Parsing, Config, help, environment variables, the config file and the
// docs are all derived from it. Its rows are in `options/`, one file per group of the help.

import { isRow, nameOf, type Option, type Rows } from "./option.ts";
import { engineOptions } from "./options/engine.ts";
import { gatewayOptions } from "./options/gateway.ts";
import { generationOptions } from "./options/generation.ts";
import { modelOptions } from "./options/model.ts";
import { oneShotOptions } from "./options/one-shot.ts";
import { outputOptions } from "./options/output.ts";
import { serverOptions } from "./options/server.ts";

const groups = {
  Model: modelOptions,
  Server: serverOptions,
  Gateway: gatewayOptions,
  Generation: generationOptions,
  Engine: engineOptions,
  "One-shot": oneShotOptions,
  "Output and files": outputOptions,
} satisfies Rows;

export type OptionGroup = keyof typeof groups;

/** The groups in the order of the help. */
export const optionGroups = Object.keys(groups) as OptionGroup[];

/** The rows by their field in Config. */
export const table = {
  ...modelOptions,
  ...serverOptions,
  ...gatewayOptions,
  ...generationOptions,
  ...engineOptions,
  ...oneShotOptions,
  ...outputOptions,
};

/** The rows in the order of the help. */
export const options: readonly Option[] = optionGroups.flatMap((group) => optionsOf(groups[group], group));

function optionsOf(rows: Rows, group: OptionGroup): Option[] {
  return Object.entries(rows).flatMap(([field, row]) =>
    isRow(row) ? { ...row, name: nameOf(field, row), group } : optionsOf(row, group),
  );
}
