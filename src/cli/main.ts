// The command line program: arguments to configuration, then help, one answer, a command or the server.

import type { Config } from "../config/config.ts";
import { processEnvironment, type Environment } from "../config/environment.ts";
import { hubSettings } from "../config/hub.ts";
import { options } from "../config/options.ts";
import { misspeltVariables, UsageError, type Values } from "../config/parse.ts";
import { readConfig } from "../config/read-config.ts";
import { commit, version } from "../config/version.ts";
import { componentNamed, tessdataLanguage } from "../store/models/short-names.ts";
import { createLogger } from "../telemetry/log.ts";
import { parseArguments, type CommandLine } from "./arguments.ts";
import { isCommand } from "./commands.ts";
import { completion } from "./completion.ts";
import { ExitError, exitCodes, type ExitReason } from "./exit-codes.ts";
import { commandHelp, fullHelpText, helpJson, helpText, USUAL_WIDTH } from "./help.ts";
import { writeOut } from "./write-out.ts";

/** Runs the program and returns its exit code; see `exit-codes.ts`. `user`: the environment as the user has it. */
export async function main(args: readonly string[], user: Environment): Promise<number> {
  let config: Config | undefined;
  try {
    const commandLine = parseArguments(args);
    const text = informationText(commandLine);
    if (text !== undefined) {
      await writeOut(text);
      return exitCodes.ok.code;
    }
    const reread = () => readConfig(commandLine.values, processEnvironment(), process.cwd());
    config = reread();
    const notes = [...commandLine.notes, ...misspeltVariables(options, processEnvironment())];
    if (config.logFormat !== "json") for (const note of notes) process.stderr.write(`svc: ${note}\n`);
    return await run(commandLine, config, { user, reread });
  } catch (error) {
    if (error instanceof UsageError) return complain(`${error.message} Try ${helpFor(args)}.`, "usage", config);
    if (error instanceof ExitError) return complain(error.message, error.reason, config);
    throw error;
  }
}

/** Where a wrong command line is explained. */
function helpFor([word = ""]: readonly string[]): string {
  return isCommand(word) && word !== "serve" ? `svc ${word} --help` : "svc --help";
}

/** Lines longer than this are hard to read. */
const WIDEST = 120;

/** What is printed without any configuration being read. */
function informationText({ action, command, operands: [shell = ""] }: CommandLine): string | undefined {
  // Some pseudo terminals say 0.
  const width = Math.min(process.stdout.columns || USUAL_WIDTH, WIDEST);
  switch (action) {
    case "help":
      return command === undefined || command === "serve" ? helpText(width) : commandHelp(command, width);
    case "help-all":
      return fullHelpText(width);
    case "help-json":
      return `${helpJson()}\n`;
    case "version":
      return `svc ${version} (${commit})\n`;
    case "completion":
      return completion(shell);
    default:
      return undefined;
  }
}

/** What commands need of the start beside the configuration. */
interface Start {
  /** The environment as the user has it. */
  readonly user: Environment;
  /** Reads the configuration again. Throws UsageError. */
  readonly reread: () => Config;
}

async function run(commandLine: CommandLine, config: Config, { user, reread }: Start): Promise<number> {
  const { action, operands, flags: given } = commandLine;
  const { output, ...elsewhere } = given;
  // As without it: the result goes to standard output.
  const flags = output === "-" ? elsewhere : given;
  const [operand = ""] = operands;
  const json = flags["json"] === true;
  switch (action) {
    case "pull": {
      const language = tessdataLanguage(operand);
      if (language !== undefined) {
        const { pullLanguage } = await import("./pull-tessdata.ts");
        return pullLanguage(config, hubSettings(processEnvironment()), language);
      }
      const component = componentNamed(operand);
      if (component !== undefined) {
        const { pullComponent } = await import("./pull-component.ts");
        return pullComponent(config, component);
      }
      const { pullModel } = await import("./pull.ts");
      return pullModel(config, hubSettings(processEnvironment()), operand);
    }
    case "list": {
      const { listStored } = await import("./list.ts");
      return listStored(config, json);
    }
    case "rm": {
      const { removeModel } = await import("./rm.ts");
      return removeModel(config, operand);
    }
    case "update": {
      const { update } = await import("./update.ts");
      return update(config, flags);
    }
    case "self-test": {
      needModel(config);
      const { selfTest } = await import("./self-test.ts");
      return selfTest(config);
    }
    case "launch": {
      const { launch } = await import("./launch.ts");
      return launch(config, operands, user, commandLine.values.has("model"));
    }
    case "models": {
      const { listModels } = await import("./models.ts");
      return listModels(config, json);
    }
    case "upstreams": {
      const { listUpstreams } = await import("./upstreams.ts");
      return listUpstreams(config, flags);
    }
    case "qr": {
      const { showQr } = await import("./qr.ts");
      return showQr(config);
    }
    case "worker": {
      const { serveDevices } = await import("./worker.ts");
      return serveDevices(config, flags);
    }
    case "wait": {
      const { waitForServer } = await import("./wait.ts");
      return waitForServer(config, flags);
    }
    case "transcribe": {
      const { transcribe } = await import("./transcribe.ts");
      return transcribe(config, operands, flags);
    }
    case "say": {
      const { say } = await import("./say.ts");
      return say(config, operands, flags);
    }
    case "draw": {
      const { draw } = await import("./draw.ts");
      return draw(config, operands, flags);
    }
    case "ocr": {
      const { ocr } = await import("./ocr.ts");
      return ocr(config, operands, flags);
    }
    default:
      return serveOrAnswer(commandLine, config, reread);
  }
}

async function serveOrAnswer(commandLine: CommandLine, config: Config, reread: () => Config): Promise<number> {
  const json = commandLine.flags["json"] === true;
  const prompt = await promptOf(config.prompt, commandLine);
  if (prompt === undefined) {
    if (json)
      throw new UsageError(
        "--json is for one answer (svc -s), svc list, svc models, svc upstreams and svc say --voices.",
      );
    const { serve } = await import("./serve.ts");
    return serve(config, reread);
  }
  needModel(config);
  const { answer } = await import("./one-shot.ts");
  return answer(config, prompt, json);
}

/** Other servers' models are for a server alone. */
function needModel({ serveModel }: Config): void {
  if (!serveModel) throw new UsageError("--no-model is for a server: one answer and the self-test need a model.");
}

/**
 * The prompt to answer once, or undefined to serve. Standard input is read when asked for (`-s -`), and joined to the text of
 * -s behind an empty line where somebody piped or redirected text into the program. Without -s it is read
 * only when somebody piped or redirected text into the program and neither the command `serve` nor an option of the
 * server was given: a service manager's empty or silent input must not keep a server from starting.
 */
async function promptOf(option: string | undefined, commandLine: CommandLine): Promise<string | undefined> {
  if (option === undefined && (commandLine.explicitServe || namesServer(commandLine.values))) return undefined;
  const { readPipedInput } = await import("./piped-input.ts");
  const piped = await readPipedInput(option === "-");
  if (option === "-" && piped === undefined) throw new UsageError("Standard input has no prompt.");
  if (option === undefined || option === "-") return piped;
  return piped === undefined ? option : `${option}\n\n${piped}`;
}

const namesServer = (values: Values): boolean =>
  options.some(({ group, name }) => (group === "Server" || group === "Gateway") && values.has(name));

/** Tells why the program ends, in the form of the log. */
function complain(message: string, reason: ExitReason, config: Config | undefined): number {
  const write = (line: string) => void process.stderr.write(line);
  if (config?.logFormat !== "json") write(`svc: ${message}\n`);
  else createLogger({ level: "error", format: "json", write, now: Date.now }).error(message);
  return exitCodes[reason].code;
}
