// The command line program: arguments to configuration, then help, one answer, a self-test or the server.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { processEnvironment } from "../config/environment.ts";
import { options, type OptionValue } from "../config/options.ts";
import { parseConfigFile, parseEnvironment, UsageError, type Values } from "../config/parse.ts";
import { mergeValues, resolveConfig } from "../config/resolve.ts";
import { commit, version } from "../config/version.ts";
import { parseArguments } from "./arguments.ts";
import { ExitError, exitCodes } from "./exit-codes.ts";
import { helpJson, helpText } from "./help.ts";

/** Runs the program and returns its exit code; see `exit-codes.ts`. */
export async function main(args: readonly string[]): Promise<number> {
  try {
    const { action, values } = parseArguments(args);
    switch (action) {
      case "help":
        return print(helpText());
      case "help-json":
        return print(`${helpJson()}\n`);
      case "version":
        return print(`svc ${version} (${commit})\n`);
      case "self-test": {
        const { selfTest } = await import("./self-test.ts");
        return await selfTest(configFrom(values).config);
      }
      case "serve":
        return await run(values);
    }
  } catch (error) {
    if (error instanceof UsageError) return complain(`${error.message}\n`, "usage");
    if (error instanceof ExitError) return complain(`${error.message}\n`, error.reason);
    throw error;
  }
}

async function run(given: Values): Promise<number> {
  const { config, merged } = configFrom(given);
  const prompt = await promptOf(merged);
  if (prompt === undefined) {
    const { serve } = await import("./serve.ts");
    return serve(config);
  }
  const { answer } = await import("./one-shot.ts");
  return answer(config, prompt, merged.get("instructions") as string | undefined);
}

function configFrom(given: Values): { config: Config; merged: ReadonlyMap<string, OptionValue> } {
  const environment = processEnvironment();
  const fromEnvironment = parseEnvironment(options, environment);
  const file = given.get("config") ?? fromEnvironment.get("config");
  const fromFile = typeof file === "string" ? readConfigFile(file) : new Map<string, OptionValue>();
  const merged = mergeValues([given, fromEnvironment, fromFile]);
  return { config: resolveConfig(merged, environment, process.cwd()), merged };
}

function readConfigFile(file: string): Values {
  let text: string;
  try {
    text = readFileSync(resolve(file), "utf8");
  } catch {
    throw new UsageError(`The config file ${file} cannot be read.`);
  }
  return parseConfigFile(options, text, file);
}

/**
 * The prompt to answer once, or undefined to serve. Standard input is read when asked for (`-s -`), and else only when
 * nothing was asked for and something was piped or redirected into the program: a service manager's empty or silent
 * input must not keep a server from starting.
 */
async function promptOf(values: Values): Promise<string | undefined> {
  const prompt = values.get("prompt") as string | undefined;
  if (prompt !== undefined && prompt !== "-") return prompt;
  const { readPipedInput } = await import("./piped-input.ts");
  const piped = await readPipedInput(prompt === "-");
  if (prompt === "-" && piped === undefined) throw new UsageError("Standard input has no prompt.");
  return piped;
}

function print(text: string): number {
  process.stdout.write(text);
  return exitCodes.ok.code;
}

function complain(text: string, reason: keyof typeof exitCodes): number {
  process.stderr.write(`svc: ${text}`);
  return exitCodes[reason].code;
}
