// The types of options. Each function makes a row of the table and infers the type of the row's field in Config.

import { isObject, jsonOf } from "../domain/json.ts";
import type { Environment } from "./environment.ts";
import type { Description, Kind, OptionValue, Row } from "./option.ts";

/** The definition of a row. `Given`: type of the parsed text or TOML value. `Value`: type of the field in Config. */
interface Spec<Given, Value, Default, Otherwise> extends Description {
  readonly default?: Default;
  /** A useful value, if there is no default. */
  readonly example?: Given;
  /** Converts the given value to Config's; absent: Config has the given value. */
  readonly to?: (given: Given) => Value;
  /** Computes Config's value when nothing is given, if `default` cannot express it; absent: the field is absent. */
  readonly otherwise?: (environment: Environment) => Otherwise;
}

type Field<Value, Default, Otherwise> = Row<Value | ([Default] extends [undefined] ? Otherwise : never)>;

function row<Given extends OptionValue, Value, Default extends Given | undefined, Otherwise>(
  kind: Kind<Given>,
  { to, otherwise, ...shown }: Spec<Given, Value, Default, Otherwise>,
) {
  const toConfig = (given: unknown, environment: Environment) => {
    const value = kind.read(given) ?? shown.default;
    if (value === undefined) return otherwise?.(environment);
    return to ? to(value) : value;
  };
  // TypeScript cannot infer which properties a row omits; the type parameters know.
  return { ...kind, ...shown, toConfig } as Field<Value, Default, Otherwise>;
}

const isText = (given: unknown): given is string => typeof given === "string" && given !== "";
/** Refuses empty texts: an empty address would listen everywhere, and an unset shell variable is a mistake. */
const text = { wanted: "a non-empty text", read: (given: unknown) => (isText(given) ? given : undefined) };

/** A non-empty text. */
export const string = <V = string, D extends string | undefined = undefined>(spec: Spec<string, V, D, undefined>) =>
  row({ type: "string", ...text }, spec);

/** A file or folder. It becomes absolute, relative to the working directory or the folder of the config file. */
export const path = <V = string, O = undefined>(spec: Spec<string, V, undefined, O>) =>
  row({ type: "path", ...text }, spec);

/** One of `choices`. */
export const choice = <const C extends string, D extends C, V = C>(
  choices: readonly C[],
  spec: Spec<C, V, D, never> & { readonly default: D },
) =>
  row(
    {
      type: "choice",
      choices,
      wanted: `one of ${choices.join(", ")}`,
      read: (given) => choices.find((one) => one === String(given)),
    },
    spec,
  );

const numeric = (type: "integer" | "number", minimum: number, maximum: number): Kind<number> => ({
  type,
  minimum,
  maximum,
  wanted: `${type === "integer" ? "a whole number" : "a number"} from ${minimum} to ${maximum}`,
  read: (given) => {
    const value = typeof given === "string" && given.trim() !== "" ? Number(given) : given;
    if (typeof value !== "number" || (type === "integer" && !Number.isInteger(value))) return undefined;
    return value >= minimum && value <= maximum ? value : undefined;
  },
});

/** A whole number; both limits are inclusive. */
export const integer = <V = number, D extends number | undefined = undefined>(
  minimum: number,
  maximum: number,
  spec: Spec<number, V, D, undefined>,
) => row(numeric("integer", minimum, maximum), spec);

/** A number; both limits are inclusive. */
export const number = <V = number, D extends number | undefined = undefined>(
  minimum: number,
  maximum: number,
  spec: Spec<number, V, D, undefined>,
) => row(numeric("number", minimum, maximum), spec);

/** Seconds; Config has milliseconds. */
export const seconds = (minimum: number, maximum: number, spec: Description & { readonly default: number }) =>
  number(minimum, maximum, { ...spec, to: (given) => Math.round(1000 * given) });

/** On or off; `--no-name` is off. */
export const boolean = <V = boolean>(spec: Spec<boolean, V, boolean, never> & { readonly default: boolean }) =>
  row(
    {
      type: "boolean",
      wanted: "true or false",
      read: (given) => {
        if (/^(1|true|yes|on)$/i.test(String(given))) return true;
        return /^(0|false|no|off)$/i.test(String(given)) ? false : undefined;
      },
    },
    spec,
  );

/** Texts: comma-separated, or as a JSON array; repeatable on the command line. */
export const list = <V = readonly string[]>(
  spec: Spec<readonly string[], V, readonly string[], never> & Pick<Row, "paths"> & { readonly placeholder: string },
) =>
  row(
    {
      type: "list",
      wanted: "non-empty texts separated by commas, or a JSON array of them",
      read: (given = []): readonly string[] | undefined => {
        const items = typeof given === "string" ? splitList(given) : given;
        return Array.isArray(items) && items.every(isText) ? items : undefined;
      },
    },
    spec,
  );

/** A JSON object, or a table in the config file. */
export const json = <V = Readonly<Record<string, unknown>>, O = undefined>(
  spec: Spec<Readonly<Record<string, unknown>>, V, undefined, O>,
) =>
  row(
    {
      type: "json",
      wanted: "a JSON object",
      read: (given) => {
        const value = typeof given === "string" ? jsonOf(given) : given;
        return isObject(value) ? value : undefined;
      },
    },
    spec,
  );

/** Splits at commas. Items with commas, or with blanks at either end, need the JSON form. */
function splitList(text: string): unknown {
  return text.trimStart().startsWith("[") ? jsonOf(text) : text.split(",").map((item) => item.trim());
}
