// From text to values: flags, environment variables and config files all end here.

import { environmentName, type Option, type OptionValue } from "./option.ts";
import { nearest } from "./nearest.ts";

/** Wrong use of the program; the message is one plain sentence that names where the value came from. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export type Values = ReadonlyMap<string, OptionValue>;

/**
 * Reads one value. `origin` says where it came from ("--port", "SVC_PORT", "port in svc.toml").
 * Throws UsageError naming the origin, the limit and what was given.
 */
export function parseValue(option: Option, given: unknown, origin: string): OptionValue {
  const refuse = (wanted: string) =>
    new UsageError(`${origin} must be ${wanted}, not ${option.secret ? "what was given" : describe(given)}.`);
  switch (option.type) {
    case "boolean":
      if (typeof given === "boolean") return given;
      if (/^(1|true|yes|on)$/i.test(String(given))) return true;
      if (/^(0|false|no|off)$/i.test(String(given))) return false;
      throw refuse("true or false");
    case "integer":
    case "number": {
      const value =
        typeof given === "number" ? given : typeof given === "string" && given.trim() !== "" ? Number(given) : NaN;
      const kind = option.type === "integer" ? "a whole number" : "a number";
      const whole = option.type === "number" || Number.isInteger(value);
      if (!Number.isFinite(value) || !whole || value < option.minimum || value > option.maximum) {
        throw refuse(`${kind} from ${option.minimum} to ${option.maximum}`);
      }
      return value;
    }
    case "choice":
      if (option.choices.includes(String(given))) return String(given);
      throw refuse(`one of ${option.choices.join(", ")}`);
    case "list": {
      const items = typeof given === "string" ? splitList(given) : given;
      if (Array.isArray(items) && items.every((item) => typeof item === "string" && item !== "")) return items;
      throw refuse("non-empty texts separated by commas, or a JSON array of them");
    }
    case "json": {
      const value = typeof given === "string" ? tryJson(given) : given;
      if (typeof value !== "object" || value === null || Array.isArray(value)) throw refuse("a JSON object");
      return value as Readonly<Record<string, unknown>>;
    }
    case "string":
    case "path":
      // An empty address would listen everywhere, and an unset shell variable is a mistake for the others too.
      if (typeof given !== "string" || given === "") throw refuse("a non-empty text");
      return given;
  }
}

/** " Did you mean --name?" for a misspelt option, or nothing. */
export function didYouMean(name: string, options: readonly Option[]): string {
  const spellings = options.flatMap(({ name: own, aliases = [] }) => [
    own,
    ...aliases.filter(({ length }) => length > 1),
  ]);
  const found = nearest(name, spellings);
  return found === undefined ? "" : ` Did you mean ${found}?`;
}

/** The values that environment variables give. Empty variables count as absent. */
export function parseEnvironment(
  options: readonly Option[],
  environment: Readonly<Record<string, string | undefined>>,
): Values {
  const values = new Map<string, OptionValue>();
  for (const option of options) {
    const name = environmentName(option);
    const given = environment[name];
    if (given !== undefined && given !== "") values.set(option.name, parseValue(option, given, name));
  }
  return values;
}

/** The values of a TOML config file; `file` names it in errors. Unknown keys are errors. */
export function parseConfigFile(options: readonly Option[], text: string, file: string): Values {
  let table: Record<string, unknown>;
  try {
    table = Bun.TOML.parse(text) as Record<string, unknown>;
  } catch (error) {
    throw new UsageError(`${file} is not valid TOML: ${error instanceof Error ? error.message : String(error)}`);
  }
  const values = new Map<string, OptionValue>();
  for (const [key, given] of Object.entries(table)) {
    const name = key.replaceAll("_", "-");
    const option = options.find((candidate) => candidate.name === name);
    if (!option || name === "config") {
      throw new UsageError(`${file} has the unknown option ${key}.${didYouMean(name, options)}`);
    }
    values.set(name, parseValue(option, given, `${key} in ${file}`));
  }
  return values;
}

/** Items with commas or blanks at an end need the JSON form. */
function splitList(text: string): unknown {
  return text.trimStart().startsWith("[") ? tryJson(text) : text.split(",").map((item) => item.trim());
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function describe(given: unknown): string {
  if (typeof given === "string") return given.length > 40 ? `a text of ${given.length} characters` : `"${given}"`;
  return Array.isArray(given) ? "a list" : typeof given === "object" ? "a table" : String(given);
}
