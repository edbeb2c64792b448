// Parses the command line: GNU style long and short options, built from the tables of options and commands.

import type { Option, OptionValue } from "../config/option.ts";
import { options } from "../config/options.ts";
import { didYouMean, parseValue, UsageError, type Values } from "../config/parse.ts";
import { commandNames, commandOf, isCommand, type CommandName, type Flag } from "./commands.ts";
import { DEFAULT, translateArguments } from "./llama-options.ts";
import { own } from "../domain/own.ts";

type GivenValues = Map<string, OptionValue | undefined>;

/** Takes the next argument as a value; undefined when there is none, or it is a known option. */
type Next = () => string | undefined;

/** What is printed without running anything. */
type Information = "help" | "help-all" | "help-json" | "version";

export interface CommandLine {
  /** What to do; `serve` includes answering a single prompt. */
  readonly action: CommandName | Information;
  /** The command that was named, which is also the subject of --help. With `serve`, standard input is not read. */
  readonly command?: CommandName;
  readonly values: Values;
  /** The files, words or names that follow the command. */
  readonly operands: readonly string[];
  /** Options of the command itself; `true` for switches. */
  readonly flags: Readonly<Record<string, string | true>>;
  /** Notes on options that were accepted but have no effect, or a different effect than the user may expect. */
  readonly notes: readonly string[];
}

const INFORMATION: Readonly<Record<string, Information>> = {
  "--help": "help",
  "-h": "help",
  "--help-all": "help-all",
  "--help-json": "help-json",
  "--version": "version",
  "-V": "version",
};

/** Words that users of other programs type in place of options. */
const WORDS: Readonly<Record<string, Information>> = { help: "help", version: "version" };

/** For words that are neither a command nor a file: a question, perhaps. */
export const ASK_HINT = ' svc -s "TEXT" asks the model something.';

/** Accepted for a single answer, too, although that has no command. */
const JSON_FLAG: Flag = { name: "json", help: "" };

/**
 * Parses the arguments: `--name value`, `--name=value`, `-n value`, `-nvalue`, `--flag`, `--no-flag`; `--` ends the
 * options. Without a command, the one positional argument is the model file. Throws UsageError.
 */
export function parseArguments(args: readonly string[]): CommandLine {
  let information: Information | undefined;
  let command: CommandName | undefined;
  const positionals: string[] = [];
  const flags: Record<string, string | true> = {};
  const isOwnCommand = isCommand(args[0]) && args[0] !== "serve";
  const { args: translated, notes } = isOwnCommand ? { args, notes: [] } : translateArguments(args);
  const values: GivenValues = new Map();
  const queue = [...translated];
  while (queue.length > 0) {
    const argument = queue.shift() as string;
    const known = command === undefined ? [JSON_FLAG] : flagsOf(command);
    const next = () => (isOption(queue[0], known) ? undefined : queue.shift());
    checkDashes(argument, known);
    if (readFlag(known, argument, next, flags)) continue;
    const asked = own(INFORMATION, argument);
    if (asked) information = asked;
    else if (argument === "--") positionals.push(...queue.splice(0));
    else if (argument.startsWith("--")) readLong(argument, next, values, known);
    else if (argument.startsWith("-") && argument.length > 1) readShort(argument, next, values, known);
    else if (command === undefined && positionals.length === 0 && isCommand(argument)) {
      command = argument;
      checkBefore(command, translated.slice(0, -1 - queue.length));
    } else positionals.push(argument);
  }
  const line = { values, operands: positionals, flags, notes };
  const [word = "", about] = positionals;
  const meant = own(WORDS, word);
  if (command === undefined && meant && (about === undefined || (word === "help" && isCommand(about)))) {
    return { ...line, action: meant, operands: [], ...(isCommand(about) && { command: about }) };
  }
  if (information !== undefined) return { ...line, action: information, ...(command && { command }) };
  if (command === undefined || command === "serve") readModel(positionals, values, command);
  else checkOperands(command, positionals);
  if (command === "serve" && values.has("prompt")) {
    throw new UsageError("svc serve does not answer a prompt: use svc -s. For a seed, use --seed.");
  }
  if (flags["json"] === true && command !== undefined && !flagsOf(command).some(({ name }) => name === "json")) {
    throw new UsageError(`svc ${command} has no --json.`);
  }
  return { ...line, action: command ?? "serve", ...(command && { command }) };
}

/** Throws UsageError when an option of the command stands before it, where the server's option would be read. */
function checkBefore(command: CommandName, before: readonly string[]): void {
  const flags = flagsOf(command).filter(({ name }) => name !== JSON_FLAG.name);
  for (const argument of before) {
    const given = /^(?:--[^=]+|-[^-])/.exec(argument)?.[0] ?? "";
    if (flags.some((flag) => isSpelled(flag, given)))
      throw new UsageError(`${given} is an option of ${command} and must follow it.`);
  }
}

const flagsOf = (command: CommandName): readonly Flag[] => commandOf(command).flags ?? [];

/** Stores the model file. Throws UsageError for several words: one of them was probably meant as a command. */
function readModel([file, surplus]: readonly string[], values: GivenValues, command: CommandName | undefined): void {
  if (surplus !== undefined) {
    const word = file === undefined || own(WORDS, file) ? surplus : file;
    const hint = didYouMean(word, commandNames, "svc ");
    throw new UsageError(
      command === undefined && /^[a-z-]+$/.test(word)
        ? `There is no command "${word}".${hint || ASK_HINT}`
        : `svc serves one model file; "${surplus}" is one argument too many.${hint}`,
    );
  }
  if (file === undefined) return;
  if (file === "") throw new UsageError("The name of the model file is empty.");
  if (values.has("model")) throw new UsageError(`The model is given twice: by --model and as "${file}".`);
  values.set("model", file);
}

function checkOperands(command: CommandName, operands: readonly string[]): void {
  const { least = 0, most = Infinity, needs } = commandOf(command);
  const surplus = operands[most];
  if (surplus !== undefined) throw new UsageError(`"${surplus}" is one argument too many for svc ${command}.`);
  if (operands.length < least) throw new UsageError(`svc ${command} needs ${needs}.`);
}

/** Reads the argument and its value when it is a command's own option; returns whether it was. Throws UsageError. */
function readFlag(known: readonly Flag[], argument: string, next: Next, flags: Record<string, string | true>): boolean {
  const [, given = "", assigned, attached] = /^(--[^=]*|-[^-=])(?:=(.*)|(.+))?$/s.exec(argument) ?? [];
  const inline = assigned ?? attached;
  const flag = known.find((one) => isSpelled(one, given));
  if (flag === undefined) return false;
  if (flag.value === undefined) {
    if (inline !== undefined) throw new UsageError(`${given} takes no value.`);
    flags[flag.name] = true;
    return true;
  }
  const value = inline ?? next();
  if (!value) throw new UsageError(`${given} needs a value.`);
  flags[flag.name] = value;
  return true;
}

const isSpelled = ({ name, short }: Flag, given: string): boolean => given === `--${name}` || given === `-${short}`;

function readLong(argument: string, next: Next, values: GivenValues, flags: readonly Flag[]): void {
  const equals = argument.indexOf("=");
  const name = argument.slice(2, equals < 0 ? undefined : equals);
  const inline = equals < 0 ? undefined : argument.slice(equals + 1);
  const option = findLong(name);
  if (option) return store(option, `--${name}`, inline, next, values);
  const negated = name.startsWith("no-") ? findLong(name.slice(3)) : undefined;
  if (negated?.type === "boolean" && inline === undefined) {
    values.set(negated.name, false);
    return;
  }
  const known = longNames(flags);
  const meant = didYouMean(name, known, "--") || didYouMean(name.replace(/^no-/, ""), known, "--");
  throw new UsageError(`Unknown option --${name}.${meant}`);
}

function readShort(argument: string, next: Next, values: GivenValues, flags: readonly Flag[]): void {
  const letter = argument.slice(1, 2);
  const option = options.find((candidate) => candidate.aliases?.includes(letter));
  if (!option) throw unknownShort(argument, letter, flags);
  const rest = argument.slice(2);
  store(option, `-${letter}`, rest === "" ? undefined : rest.replace(/^=/, ""), next, values);
}

/** A long name with one dash; in letters alone, so that it is no letter with a number or a path as its value. */
const wordOf = (argument: string): string => /^-([a-z][a-z-]{2,})(?:=|$)/i.exec(argument)?.[1] ?? "";

/** Throws UsageError for the name of an option after a single dash: -model would be -m with the file "odel". */
function checkDashes(argument: string, flags: readonly Flag[]): void {
  const word = wordOf(argument);
  const name = word.toLowerCase();
  if (longNames(flags).includes(name)) throw new UsageError(`Unknown option -${word}. Did you mean --${name}?`);
}

function unknownShort(argument: string, letter: string, flags: readonly Flag[]): UsageError {
  const word = wordOf(argument);
  const meant = word === "" ? "" : didYouMean(word, longNames(flags), "--");
  if (meant !== "") return new UsageError(`Unknown option -${word}.${meant}`);
  if (letter === "h") return new UsageError("-h takes no value. Did you mean -H?");
  if (letter === "V") return new UsageError("-V takes no value.");
  const known = [...options.flatMap(({ aliases = [] }) => aliases), ...flags.map(({ short }) => short)];
  const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
  return new UsageError(`Unknown option -${letter}.${known.includes(other) ? ` Did you mean -${other}?` : ""}`);
}

function store(option: Option, origin: string, inline: string | undefined, next: Next, values: GivenValues): void {
  if (inline === DEFAULT) {
    values.set(option.name, undefined);
    return;
  }
  if (option.type === "boolean") {
    values.set(option.name, parseValue(option, inline ?? true, origin));
    return;
  }
  const given = inline ?? next();
  if (given === undefined) throw new UsageError(`${origin} needs a value.`);
  if (option.type !== "list") {
    const value = parseValue(option, given, origin);
    const before = values.get(option.name) ?? value;
    if (option.type === "path" && before !== value) {
      throw new UsageError(`${origin} is given twice: "${before as string}" and "${value as string}".`);
    }
    values.set(option.name, value);
    return;
  }
  const earlier = (values.get(option.name) as readonly string[] | undefined) ?? [];
  values.set(option.name, [...earlier, ...(parseValue(option, given, origin) as readonly string[])]);
}

/**
 * Returns whether the argument is a known option, so the option before it lacks a value: values may begin with -.
 * `flags`: the command's own options.
 */
function isOption(argument: string | undefined, flags: readonly Flag[]): boolean {
  if (argument === undefined) return false;
  const given = argument.replace(/=.*/s, "");
  if (own(INFORMATION, argument) || flags.some((flag) => isSpelled(flag, given))) return true;
  const name = /^--(no-)?(.+)/.exec(given)?.[2];
  return name !== undefined && findLong(name) !== undefined;
}

const longNamesOf = ({ name, aliases = [] }: Option): string[] => [name, ...aliases.filter(({ length }) => length > 1)];

/** The long names of everything that may be given: options, those of the command, and requests for information. */
const longNames = (flags: readonly Flag[]): string[] => [
  ...flags.map(({ name }) => name),
  ...options.flatMap(longNamesOf),
  ...Object.keys(INFORMATION).flatMap((spelled) => (spelled.startsWith("--") ? spelled.slice(2) : [])),
];

const findLong = (name: string): Option | undefined => options.find((option) => longNamesOf(option).includes(name));
