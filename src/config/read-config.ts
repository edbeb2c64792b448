// Combines the sources of options: flags take precedence over the environment, then the config file, then defaults.

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { withAbsoluteFile } from "./adapter-option.ts";
import { isTemplate } from "./chat-templates.ts";
import type { Config } from "./config.ts";
import { homeFolder, type Environment } from "./environment.ts";
import type { OptionValue } from "./option.ts";
import { options, table } from "./options.ts";
import { parseConfigFile, parseEnvironment, type Values } from "./parse.ts";
import { defaultConfigFile } from "./paths.ts";
import { isShellPipe, readText } from "./read-text.ts";
import { resolveConfig } from "./resolve.ts";

/**
 * Reads environment and config file and resolves all options to one Config. The file is the one that --config or
 * SVC_CONFIG names, else `svc/config.toml` in the user's configuration folder if it exists. Throws UsageError.
 */
export const readConfig = (flags: Values, environment: Environment, cwd: string): Config =>
  resolveConfig(readLayers(flags, environment, cwd), environment);

/** Returns the values of flags, environment and config file, in this order. Throws UsageError. */
export function readLayers(flags: Values, environment: Environment, cwd: string): readonly Values[] {
  const home = homeFolder(environment);
  const fromFlags = withAbsolutePaths(flags, cwd, home);
  const fromEnvironment = withAbsolutePaths(parseEnvironment(options, environment), cwd, home);
  const given = fromFlags.get("config") ?? fromEnvironment.get("config");
  const fromFile = readConfigFile(table.configFile.toConfig(given, environment), environment, home);
  return [fromFlags, fromEnvironment, fromFile];
}

/** Options of files that are read with the configuration. */
const FILES = ["config", "api-key-file", "tls-cert", "tls-key", "chat-template"];

/** Returns an option whose file is a pipe, so that the configuration can be read only once; undefined if there is none. */
export const pipedOption = (layers: readonly Values[]): string | undefined =>
  FILES.find((name) =>
    layers.some((layer) => [layer.get(name) ?? []].flat().some((file) => isShellPipe(String(file)))),
  );

function readConfigFile(named: string | undefined, environment: Environment, home: string | undefined): Values {
  const file = named ?? defaultConfigFile(environment);
  if (file === undefined || (named === undefined && !existsSync(file))) return new Map();
  return withAbsolutePaths(parseConfigFile(options, readText(file, "config file"), file), dirname(file), home);
}

/** Makes paths absolute. `base`: the folder that they are relative to: the working directory or the config file's. */
function withAbsolutePaths(values: Values, base: string, home: string | undefined): Values {
  const absolute = new Map<string, OptionValue | undefined>(values);
  const toAbsolute = (path: string) =>
    resolve(base, home !== undefined && path.startsWith("~/") ? join(home, path.slice(2)) : path);
  for (const { name, type, paths, orName } of options) {
    const value = values.get(name);
    const located = (path: string) =>
      orName && (isTemplate(path) || isName(path)) && !existsSync(toAbsolute(path)) ? path : toAbsolute(path);
    const item = (text: string) => (paths === "adapters" ? withAbsoluteFile(text, toAbsolute) : located(text));
    if (type === "path" && typeof value === "string") absolute.set(name, located(value));
    if (paths && Array.isArray(value)) absolute.set(name, value.map(item));
  }
  return absolute;
}

const NAME = /^((hf|huggingface)\.co\/|hf:(\/\/)?)?\w[\w.-]*(\/[\w.-]+)?(:[^/].*)?$/i;

/** Returns whether a text can be a model's name: a URL, or text that is neither a path nor the name of a model file. */
const isName = (text: string): boolean =>
  /^https?:\/\//i.test(text) || (NAME.test(text) && !/^[^:]*\.gguf$/i.test(text));
