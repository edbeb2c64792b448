// The command line: GNU style long and short options, made from the options table.

import type { Option, OptionValue } from "../config/option.ts";
import { options } from "../config/options.ts";
import { didYouMean, parseValue, UsageError, type Values } from "../config/parse.ts";
import { translateArguments } from "./llama-options.ts";

export type Action = "serve" | "help" | "help-json" | "version" | "self-test" | "models" | StoreCommand | FileCommand;

/** Commands on downloaded models. */
export type StoreCommand = "pull" | "list" | "rm";

/** Commands on recordings, pictures, texts and descriptions. */
export type FileCommand = "transcribe" | "say" | "ocr" | "draw";

export interface CommandLine {
  readonly action: Action;
  /** `svc serve`: standard input is no prompt, whatever is in it. */
  readonly explicitServe: boolean;
  readonly values: Values;
  /** The model that `pull` and `rm` are about. */
  readonly operand?: string;
  /** `svc list --json`, `svc models --json`, `svc say --voices --json`. */
  readonly json: boolean;
  /** The files of `transcribe` and `ocr`, the words of `say` and `draw`. */
  readonly operands: readonly string[];
  /** Options of these that are no options of the server; `true` where they take no value. */
  readonly flags: Readonly<Record<string, string | true>>;
  /** Of options that were taken and have no effect. */
  readonly notes: readonly string[];
}

/** Options that a command has for itself, with their short forms; `true`: with a value. */
const OWN_FLAGS: Readonly<Record<FileCommand, Readonly<Record<string, boolean>>>> = {
  transcribe: { "--format": true, "--language": true, "--translate": false, "--output": true },
  say: { "--format": true, "--voice": true, "--voices": false, "--locale": true, "--speed": true, "--output": true },
  ocr: { "--format": true, "--language": true, "--pages": true, "--output": true },
  draw: { "--format": true, "--size": true, "--seed": true, "--steps": true, "--count": true, "--output": true },
};
const SHORT_FLAGS: Readonly<Record<string, string>> = { "-o": "--output", "-n": "--count" };

const ACTIONS: Readonly<Record<string, Action>> = {
  "--help": "help",
  "-h": "help",
  "--help-json": "help-json",
  "--version": "version",
  "-V": "version",
};

/** What people type who come from other programs. */
const WORDS: Readonly<Record<string, Action>> = { help: "help", version: "version" };

const JSON_IS_OF = "--json belongs to svc list, svc models and svc say --voices.";

const FILE_COMMANDS: readonly FileCommand[] = ["transcribe", "say", "ocr", "draw"];
const STORE_COMMANDS: readonly StoreCommand[] = ["pull", "list", "rm"];

/**
 * Reads the arguments. `--name value`, `--name=value`, `-n value`, `-nvalue`, `--flag`, `--no-flag`, `--` ends options;
 * one positional argument is the model file. Throws UsageError.
 */
export function parseArguments(args: readonly string[]): CommandLine {
  let action: Action = "serve";
  const values = new Map<string, OptionValue>();
  const positionals: string[] = [];
  let json = false;
  const flags: Record<string, string | true> = {};
  const { args: translated, notes } = translateArguments(args);
  const queue = [...translated];
  let own: FileCommand | undefined;
  while (queue.length > 0) {
    const argument = queue.shift() as string;
    if (own && readFlag(OWN_FLAGS[own], argument, queue, flags)) continue;
    if (ACTIONS[argument]) action = ACTIONS[argument];
    else if (argument === "--json") json = true;
    else if (argument === "--") positionals.push(...queue.splice(0));
    else if (argument.startsWith("--")) readLong(argument, queue, values);
    else if (argument.startsWith("-") && argument.length > 1) readShort(argument, queue, values);
    else {
      if (positionals.length === 0) own = FILE_COMMANDS.find((one) => one === argument);
      positionals.push(argument);
    }
  }
  const command = positionals[0];
  const word = positionals.length === 1 ? WORDS[command ?? ""] : undefined;
  const plain = { explicitServe: false, values, json, operands: [], flags, notes };
  if (word !== undefined) return { ...plain, action: word, json: false };
  if (json && own && flags["voices"] === undefined) {
    throw new UsageError(JSON_IS_OF);
  }
  if (own) {
    const operands = positionals.slice(1);
    const needed = own === "transcribe" ? "recordings" : own === "ocr" ? "pictures or documents" : undefined;
    if (action === "serve" && needed !== undefined && operands.length === 0) {
      throw new UsageError(`svc ${own} needs the names of ${needed}; - is standard input.`);
    }
    return { ...plain, action: action === "serve" ? own : action, operands };
  }
  if (command === "self-test" || command === "models" || command === "serve") {
    positionals.shift();
    if (action === "serve") action = command;
  }
  const stored = STORE_COMMANDS.find((one) => one === command);
  if (json && stored !== "list" && command !== "models") {
    throw new UsageError(JSON_IS_OF);
  }
  if (stored !== undefined) {
    if (action === "serve") action = stored;
    const operand = operandOf(stored, action, positionals.slice(1));
    return { ...plain, action, ...(operand !== undefined && { operand }) };
  }
  const [file, surplus] = positionals;
  if (surplus !== undefined) throw new UsageError(`One model file is served; "${surplus}" is one argument too many.`);
  if (file !== undefined) {
    if (values.has("model")) throw new UsageError(`The model is given twice: by --model and as "${file}".`);
    values.set("model", file);
  }
  return { ...plain, action, explicitServe: command === "serve" };
}

/** Whether the argument is a command's own option, which is read then, with its value. Throws UsageError. */
function readFlag(
  known: Readonly<Record<string, boolean>>,
  argument: string,
  queue: string[],
  flags: Record<string, string | true>,
): boolean {
  const [, given = "", inline] = /^(-[^=]*)(?:=(.*))?$/s.exec(argument) ?? [];
  const name = SHORT_FLAGS[given] ?? given;
  const takesValue = Object.hasOwn(known, name) ? known[name] : undefined;
  if (takesValue === undefined) return false;
  const value = takesValue ? (inline ?? queue.shift()) : true;
  if (value === undefined) throw new UsageError(`${given} needs a value.`);
  flags[name.slice(2)] = value;
  return true;
}

/** `svc list` is about all models, the others about one. */
function operandOf(command: StoreCommand, action: Action, [operand, surplus]: string[]): string | undefined {
  // Help was asked for.
  if (action !== command) return undefined;
  const extra = command === "list" ? operand : surplus;
  if (extra !== undefined) throw new UsageError(`"${extra}" is one argument too many for svc ${command}.`);
  if (command !== "list" && !operand) {
    const example =
      command === "pull" ? "owner/repository, owner/repository:QUANT, whisper:NAME or a URL" : "as svc list shows it";
    throw new UsageError(`svc ${command} needs the name of a model: ${example}.`);
  }
  return operand;
}

function readLong(argument: string, queue: string[], values: Map<string, OptionValue>): void {
  const equals = argument.indexOf("=");
  const name = argument.slice(2, equals < 0 ? undefined : equals);
  const inline = equals < 0 ? undefined : argument.slice(equals + 1);
  const option = findLong(name);
  if (option) return store(option, `--${name}`, inline, queue, values);
  const negated = name.startsWith("no-") ? findLong(name.slice(3)) : undefined;
  if (negated?.type === "boolean" && inline === undefined) {
    values.set(negated.name, false);
    return;
  }
  throw new UsageError(`Unknown option --${name}.${didYouMean(name, options).replace("mean ", "mean --")}`);
}

function readShort(argument: string, queue: string[], values: Map<string, OptionValue>): void {
  const letter = argument.slice(1, 2);
  const option = options.find((candidate) => candidate.aliases?.includes(letter));
  if (!option) throw new UsageError(`Unknown option -${letter}.`);
  const rest = argument.slice(2);
  store(option, `-${letter}`, rest === "" ? undefined : rest.replace(/^=/, ""), queue, values);
}

function store(
  option: Option,
  origin: string,
  inline: string | undefined,
  queue: string[],
  values: Map<string, OptionValue>,
): void {
  if (option.type === "boolean") {
    values.set(option.name, parseValue(option, inline ?? true, origin));
    return;
  }
  const given = inline ?? (isOption(queue[0]) ? undefined : queue.shift());
  if (given === undefined) throw new UsageError(`${origin} needs a value.`);
  if (option.type !== "list") {
    values.set(option.name, parseValue(option, given, origin));
    return;
  }
  const earlier = (values.get(option.name) as readonly string[] | undefined) ?? [];
  values.set(option.name, [...earlier, ...(parseValue(option, given, origin) as readonly string[])]);
}

/** Whether the argument is certainly an option: then the one before it lacks its value. Numbers and texts may begin with -. */
function isOption(argument: string | undefined): boolean {
  if (argument === undefined || argument in ACTIONS) return argument !== undefined;
  const name = /^--(no-)?([^=]+)/.exec(argument)?.[2];
  return name !== undefined && findLong(name) !== undefined;
}

const findLong = (name: string): Option | undefined =>
  options.find((option) => option.name === name || (name.length > 1 && option.aliases?.includes(name)));
