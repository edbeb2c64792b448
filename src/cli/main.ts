// The command line program: reads arguments and configuration, then prints help, answers once, runs or serves.

import type { Config } from "../config/config.ts";
import { engineEnvironment, processEnvironment, type Environment } from "../config/environment.ts";
import { idleOptions } from "../config/idle-options.ts";
import { options } from "../config/options.ts";
import { misspeltVariables, UsageError, type Values } from "../config/parse.ts";
import { pipedOption, readConfig, readLayers } from "../config/read-config.ts";
import { resolveConfig } from "../config/resolve.ts";
import { commit, version } from "../config/version.ts";
import { errorMessage } from "../domain/error-message.ts";
import { SvcError } from "../domain/errors.ts";
import { startAhead } from "../engine/process/process.ts";
import { ModelFileError } from "../model/gguf.ts";
import { PullError } from "../store/models/pull-error.ts";
import { parseArguments, type CommandLine } from "./arguments.ts";
import { commandNames, commandOf, isCommand } from "./commands.ts";
import { completion } from "./completion.ts";
import { ExitError, exitCodes, type ExitReason } from "./exit-codes.ts";
import { commandHelp, fullHelpText, helpJson, helpText, USUAL_WIDTH } from "./help.ts";
import { engineCommand } from "./own-program.ts";
import { liftRequestLimit } from "./request-limit.ts";
import { writeError, writeWarning } from "./terminal.ts";
import { writeOut } from "./write-out.ts";

/** Runs the program and returns its exit code (see `exit-codes.ts`). `user`: the user's unmodified environment. */
export async function main(args: readonly string[], user: Environment): Promise<number> {
  // The reader of the log may end first: `2>&1 | head`, or tee at Ctrl-C.
  process.stderr.on("error", () => {});
  let config: Config | undefined;
  try {
    const commandLine = parseArguments(args);
    const {
      action,
      operands: [operand = ""],
      flags,
    } = commandLine;
    if (!isRun(action)) {
      await writeOut(informationText(action, commandLine));
      return exitCodes.ok.code;
    }
    const sources = [commandLine.values, processEnvironment(), process.cwd()] as const;
    const layers = readLayers(...sources);
    const piped = pipedOption(layers);
    const reread = () => {
      if (piped === undefined) return readConfig(...sources);
      throw new UsageError(`--${piped} is a pipe, which was read at the start: only a file can be read again.`);
    };
    config = resolveConfig(layers, processEnvironment());
    const answersOnce = config.prompt !== undefined && commandLine.command !== "serve";
    if (action === "serve" && !answersOnce && piped === undefined) liftRequestLimit(config, user);
    const notes = [...commandLine.notes, ...misspeltVariables(options, processEnvironment())];
    for (const note of notes) writeWarning(note, config);
    const { output, ...elsewhere } = flags;
    // `-o -` means the same as no -o: the result goes to standard output.
    const given = output === "-" ? elsewhere : flags;
    const json = flags["json"] === true;
    const code = await runs[action]({ ...commandLine, flags: given, config, layers, operand, json, user, reread });
    return code ?? exitCodes.ok.code;
  } catch (error) {
    if (error instanceof UsageError) return complain(`${error.message} Try ${helpFor(args)}.`, "usage", config);
    if (error instanceof ExitError) return complain(error.message, error.reason, config);
    if (error instanceof ModelFileError) return complain(error.message, "model", config);
    if (error instanceof PullError || error instanceof SvcError) return complain(error.message, "failure", config);
    return complain(unexpected(error, config), "failure", config);
  }
}

/** Returns an error without an exit code of its own as one line; with --log-level debug, with its stack. */
function unexpected(error: unknown, config: Config | undefined): string {
  const stack = error instanceof Error && config?.logLevel === "debug" ? error.stack : undefined;
  return stack ?? errorMessage(error).replaceAll(/\s*\n\s*/g, " ");
}

/** Returns the help command that explains the command line in question. */
function helpFor([word = ""]: readonly string[]): string {
  return isCommand(word) ? `svc ${word} --help` : "svc --help";
}

/** Lines longer than this are hard to read. */
const WIDEST = 120;

/** Returns what is printed without reading any configuration. */
function informationText(
  action: "help" | "help-all" | "help-json" | "version" | "completion",
  { command, operands: [shell = ""] }: CommandLine,
): string {
  // Some pseudo terminals report 0 columns.
  const width = Math.min(process.stdout.columns || USUAL_WIDTH, WIDEST);
  switch (action) {
    case "help":
      return command === undefined ? helpText(width) : commandHelp(command, width);
    case "help-all":
      return fullHelpText(width);
    case "help-json":
      return `${helpJson()}\n`;
    case "version":
      return `svc ${version} (${commit})\n`;
    case "completion":
      return completion(shell);
  }
}

/** What every command receives. */
interface Start extends CommandLine {
  readonly config: Config;
  /** The values that the configuration was resolved from. */
  readonly layers: readonly Values[];
  /** The first operand. */
  readonly operand: string;
  readonly json: boolean;
  /** The user's unmodified environment. */
  readonly user: Environment;
  /** Reads the configuration again. Throws UsageError. */
  readonly reread: () => Config;
}

type Information = Parameters<typeof informationText>[0];

/** How each command is run, returning the exit code unless that is 0; only the code of that command is loaded. */
const runs: Readonly<Record<Exclude<CommandLine["action"], Information>, (start: Start) => Promise<number | void>>> = {
  serve: serveOrAnswer,
  transcribe: async ({ config, operands, flags }) =>
    (await import("./transcribe.ts")).transcribe(config, operands, flags),
  ocr: async ({ config, operands, flags }) => (await import("./ocr.ts")).ocr(config, operands, flags),
  say: async ({ config, operands, flags }) => (await import("./say.ts")).say(config, operands, flags),
  draw: async ({ config, operands, flags }) => (await import("./draw.ts")).draw(config, operands, flags),
  launch: async ({ config, operands, user, values }) =>
    (await import("./launch.ts")).launch(config, operands, user, values.has("model")),
  models: async ({ config, json }) => (await import("./models.ts")).listModels(config, json),
  upstreams: async ({ config, flags }) => (await import("./upstreams.ts")).listUpstreams(config, flags),
  wait: async ({ config, flags }) => (await import("./wait.ts")).waitForServer(config, flags),
  qr: async ({ config }) => (await import("./qr.ts")).showQr(config),
  pull: async ({ config, operand }) => (await import("./pull.ts")).pullNamed(config, operand),
  list: async ({ config, json }) => (await import("./list.ts")).listStored(config, json),
  rm: async ({ config, operand }) => (await import("./rm.ts")).removeModel(config, operand),
  worker: async ({ config, flags }) => (await import("./worker.ts")).serveDevices(config, flags),
  update: async ({ config, flags }) => (await import("./update.ts")).update(config, flags),
  "self-test": async ({ config, flags }) => (await import("./self-test.ts")).selfTest(config, flags),
};

const isRun = (action: CommandLine["action"]): action is keyof typeof runs => Object.hasOwn(runs, action);

async function serveOrAnswer(start: Start): Promise<number> {
  const { config, json, layers, values, reread } = start;
  // The process takes as long to start as this one takes to find out what it is to load.
  if (config.serveModel) startAhead({ command: engineCommand("text"), env: engineEnvironment(processEnvironment()) });
  const prompt = await promptOf(start);
  if (prompt === undefined) {
    if (json) {
      const places = new Intl.ListFormat("en-GB").format(["one answer (svc -s)", ...callsWith("json")]);
      throw new UsageError(`--json is for ${places}.`);
    }
    for (const note of idleOptions(layers, config)) writeWarning(note, config);
    const { serve } = await import("./serve.ts");
    return serve(config, reread);
  }
  if (!config.serveModel) throw new UsageError("--no-model is for a server: one answer needs a model.");
  const { answer } = await import("./one-shot.ts");
  // The file that the environment or the config file names may be the trace of a running server.
  const { traceFile: _ofServer, ...untraced } = config;
  return answer(values.has("trace-file") ? config : untraced, prompt, json);
}

/** Returns the commands that have this flag. */
const callsWith = (flag: string): string[] =>
  commandNames.filter((name) => commandOf(name).flags?.some((own) => own.name === flag)).map((name) => `svc ${name}`);

/**
 * Returns the prompt to answer once, or undefined to serve. `-s -` reads standard input. Other text of -s is joined
 * with piped or redirected input, an empty line between them; without input the text is answered alone, since programs
 * start svc with a pipe that they never write to. Without -s, piped or redirected input is the prompt unless the command
 * `serve` or a server option was given: the empty or silent input of a service manager must not keep a server from
 * starting.
 */
async function promptOf({ config, command, values }: Start): Promise<string | undefined> {
  if (command === "serve") return undefined;
  const { prompt: option } = config;
  if (option === undefined && namesServer(values)) return undefined;
  const { AT_ONCE, BESIDE_PROMPT, readPipedInput, TO_ITS_END } = await import("./piped-input.ts");
  if (option === undefined) return readPipedInput(AT_ONCE);
  if (option === "-") {
    const whole = await readPipedInput(TO_ITS_END);
    if (whole === undefined) throw new UsageError("Standard input has no prompt.");
    return whole;
  }
  const piped = await readPipedInput(BESIDE_PROMPT, (seconds) =>
    writeWarning(
      `No text arrived through the pipe on standard input for ${seconds} s, so svc answers the prompt without it. With -s -, svc waits for the whole prompt; with < /dev/null, it does not wait.`,
      config,
    ),
  );
  return piped === undefined ? option : `${option}\n\n${piped}`;
}

const namesServer = (values: Values): boolean =>
  options.some(({ group, name }) => (group === "Server" || group === "Gateway") && values.has(name));

/** Reports why the program ends, in the log's format. Returns the exit code. */
function complain(message: string, reason: ExitReason, config: Config | undefined): number {
  writeError(message, config?.logFormat ?? "text");
  return exitCodes[reason].code;
}
