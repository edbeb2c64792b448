// The command line program: arguments to configuration, then help, one answer, a self-test or the server.

import { processEnvironment } from "../config/environment.ts";
import { options } from "../config/options.ts";
import { UsageError, type Values } from "../config/parse.ts";
import { readSettings } from "../config/settings.ts";
import { commit, version } from "../config/version.ts";
import { parseArguments, type CommandLine } from "./arguments.ts";
import { ExitError, exitCodes } from "./exit-codes.ts";
import { helpJson, helpText } from "./help.ts";

/** Runs the program and returns its exit code; see `exit-codes.ts`. */
export async function main(args: readonly string[]): Promise<number> {
  try {
    const commandLine = parseArguments(args);
    switch (commandLine.action) {
      case "help":
        return print(helpText());
      case "help-json":
        return print(`${helpJson()}\n`);
      case "version":
        return print(`svc ${version} (${commit})\n`);
      case "self-test": {
        const { selfTest } = await import("./self-test.ts");
        return await selfTest(settingsOf(commandLine).config);
      }
      case "serve":
        return await run(commandLine);
    }
  } catch (error) {
    if (error instanceof UsageError) return complain(`${error.message}\n`, "usage");
    if (error instanceof ExitError) return complain(`${error.message}\n`, error.reason);
    throw error;
  }
}

async function run(commandLine: CommandLine): Promise<number> {
  const { config, prompt: option, instructions } = settingsOf(commandLine);
  const prompt = await promptOf(option, commandLine);
  if (prompt === undefined) {
    const { serve } = await import("./serve.ts");
    return serve(config);
  }
  const { answer } = await import("./one-shot.ts");
  return answer(config, prompt, instructions);
}

const settingsOf = ({ values }: CommandLine) => readSettings(values, processEnvironment(), process.cwd());

/**
 * The prompt to answer once, or undefined to serve. Standard input is read when asked for (`-s -`). Without -s it is read
 * only when somebody piped or redirected text into the program and neither the command `serve` nor an option of the
 * server was given: a service manager's empty or silent input must not keep a server from starting.
 */
async function promptOf(option: string | undefined, commandLine: CommandLine): Promise<string | undefined> {
  if (option !== undefined && option !== "-") return option;
  if (option === undefined && (commandLine.explicitServe || namesServer(commandLine.values))) return undefined;
  const { readPipedInput } = await import("./piped-input.ts");
  const piped = await readPipedInput(option === "-");
  if (option === "-" && piped === undefined) throw new UsageError("Standard input has no prompt.");
  return piped;
}

const namesServer = (values: Values): boolean =>
  options.some((option) => option.group === "Server" && values.has(option.name));

function print(text: string): number {
  process.stdout.write(text);
  return exitCodes.ok.code;
}

function complain(text: string, reason: keyof typeof exitCodes): number {
  process.stderr.write(`svc: ${text}`);
  return exitCodes[reason].code;
}
