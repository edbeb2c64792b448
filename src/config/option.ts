// What an option is: the shape of the rows in options/.

export type OptionValue = string | number | boolean | readonly string[] | Readonly<Record<string, unknown>>;

interface OptionBase {
  /** Long name: `--name`. Also the key in the config file; `SVC_NAME` in the environment. */
  readonly name: string;
  /** Other spellings: one letter or a long name. */
  readonly aliases?: readonly string[];
  readonly group: OptionGroup;
  readonly help: string;
  /** Messages do not show its value. */
  readonly secret?: true;
}

/** `number`: with its limits, both inclusive. `list`: comma-separated or a JSON array; repeatable on the command line. */
export type Option = OptionBase &
  (
    | { readonly type: "string"; readonly default?: string; readonly placeholder?: string }
    | {
        readonly type: "path";
        readonly default?: string;
        readonly placeholder?: string;
        /** A model's name is taken as well, when no file is there. */
        readonly orName?: true;
      }
    | { readonly type: "choice"; readonly choices: readonly string[]; readonly default: string }
    | {
        readonly type: "integer" | "number";
        readonly minimum: number;
        readonly maximum: number;
        readonly default?: number;
        /** What an absent value means, for the help. */
        readonly absent?: string;
      }
    | { readonly type: "boolean"; readonly default: boolean }
    | {
        readonly type: "list";
        readonly placeholder: string;
        /** Its items are paths, relative ones to the folder they were written for, or [NAME=]FILE[:SCALE]. */
        readonly paths?: true | "adapters";
        readonly orName?: true;
      }
    | { readonly type: "json" }
  );

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

/** The environment variable of an option. */
export const environmentName = (option: Option): string => `SVC_${option.name.toUpperCase().replaceAll("-", "_")}`;
