// Parses values: flags, environment variables and config files all use this.

import { errorMessage } from "../domain/error-message.ts";
import { ENVIRONMENT_PREFIX, environmentName, type Option, type OptionValue } from "./option.ts";
import { nearest } from "./nearest.ts";

/** Incorrect use of the program. The message is one plain sentence that names where the value came from. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Values by the options' names. Undefined: the default, whatever sources of lower precedence say. */
export type Values = ReadonlyMap<string, OptionValue | undefined>;

/** Returns whether a value is more than an empty list. */
export const isGiven = (value: OptionValue | undefined): boolean =>
  value !== undefined && !(Array.isArray(value) && value.length === 0);

/**
 * Reads one value. `origin` says where it came from ("--port", "SVC_PORT", "port in svc.toml").
 * Throws UsageError naming the origin, the limit and what was given.
 */
export function parseValue(option: Option, given: unknown, origin: string): OptionValue {
  const value = option.read(given);
  if (value !== undefined) return value;
  const meant = typeof given === "string" ? didYouMean(given, option.choices ?? []) : "";
  throw new UsageError(
    `${origin} must be ${option.wanted}, not ${option.secret ? "what was given" : describe(given, option)}.${meant}`,
  );
}

/** Returns " Did you mean …?" with the candidate nearest to a misspelt name, after `prefix`, or "". */
export function didYouMean(name: string, candidates: readonly string[], prefix = ""): string {
  const found = nearest(name, candidates);
  return found === undefined ? "" : ` Did you mean ${prefix}${found}?`;
}

/** Returns the values set by environment variables. Empty variables count as absent, and so do those of Kubernetes. */
export function parseEnvironment(
  options: readonly Option[],
  environment: Readonly<Record<string, string | undefined>>,
): Values {
  const values = new Map<string, OptionValue>();
  for (const option of options) {
    const name = environmentName(option);
    const given = environment[name];
    if (given !== undefined && given !== "" && !isOfKubernetes(name, given))
      values.set(option.name, parseValue(option, given, name));
  }
  return values;
}

/** In a pod, Kubernetes sets SVC_PORT=tcp://10.0.0.1:9999 for a Service named svc, and SVC_GATEWAY_PORT for svc-gateway. */
const isOfKubernetes = (name: string, given: string): boolean => name.endsWith("_PORT") && given.startsWith("tcp://");

/** Returns a sentence about each variable that is not an option's but nearly has the name of one. */
export function misspeltVariables(
  options: readonly Option[],
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  const known = options.map(environmentName);
  const bare = known.map((name) => name.slice(ENVIRONMENT_PREFIX.length));
  return Object.keys(environment).flatMap((name) => {
    if (!name.startsWith(ENVIRONMENT_PREFIX) || known.includes(name)) return [];
    // Other programs may use the same prefix: Kubernetes sets SVC_SERVICE_HOST for a service named svc.
    const meant = didYouMean(name.slice(ENVIRONMENT_PREFIX.length), bare, ENVIRONMENT_PREFIX);
    return meant === "" ? [] : `${name} has no effect.${meant}`;
  });
}

/** Returns the values of a TOML config file; `file` is its name in errors. Throws UsageError, also for unknown keys. */
export function parseConfigFile(options: readonly Option[], text: string, file: string): Values {
  let table: Record<string, unknown>;
  try {
    table = Bun.TOML.parse(text) as Record<string, unknown>;
  } catch (error) {
    // The quoted text may be a key.
    const reason = errorMessage(error)
      .replace(/^TOML Parse error: /, "")
      .replace(/:? ".*"/s, "");
    throw new UsageError(`${file} is not valid TOML${placeOfError(text)}: ${reason}.`);
  }
  const values = new Map<string, OptionValue>();
  for (const [key, given] of Object.entries(table)) {
    const name = key.replaceAll("_", "-");
    const option = options.find((candidate) => candidate.name === name);
    if (!option || name === "config") {
      const long = options.find(({ aliases }) => aliases?.includes(name))?.name ?? name;
      // A config file has only long names, and cannot name another config file.
      const known = options.map((one) => one.name).filter((one) => one !== "config");
      throw new UsageError(`${file} has the unknown option ${key}.${didYouMean(long, known)}`);
    }
    values.set(name, parseValue(option, given, `${key} in ${file}`));
  }
  return values;
}

/** Longer texts, such as a model file given by mistake, would take too long to search. */
const SEARCHED = { characters: 100_000, lines: 1000 };

/**
 * Returns where the entry begins that makes a text invalid TOML, since Bun's error has no position: after the longest
 * valid part from the start. No part is valid that has the error or ends within a value.
 */
function placeOfError(text: string): string {
  const lines = text.split("\n");
  if (text.length > SEARCHED.characters || lines.length > SEARCHED.lines) return "";
  const before = lines.findLastIndex((_, count) => isToml(`${lines.slice(0, count).join("\n")}\n`));
  return ` in the entry that begins at line ${before + 1}`;
}

function isToml(text: string): boolean {
  try {
    Bun.TOML.parse(text);
    return true;
  } catch {
    return false;
  }
}

function describe(given: unknown, { type }: Option): string {
  if (Array.isArray(given) && type === "list") return describeList(given as readonly unknown[]);
  if (typeof given === "string") return given.length > 40 ? `a text of ${given.length} characters` : `"${given}"`;
  return Array.isArray(given) ? "a list" : typeof given === "object" ? "a table" : String(given);
}

/** Describes a list by its first item that is empty or not a text. */
function describeList(items: readonly unknown[]): string {
  const at = items.findIndex((item) => typeof item !== "string" || item === "");
  return `a list whose item ${at + 1} is ${items[at] === "" ? "empty" : "not a text"}`;
}
