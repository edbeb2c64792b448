// The command line: GNU style long and short options, made from the options table.

import { options, type Option, type OptionValue } from "../config/options.ts";
import { parseValue, UsageError, type Values } from "../config/parse.ts";

export type Action = "serve" | "help" | "help-json" | "version" | "self-test";

export interface CommandLine {
  readonly action: Action;
  readonly values: Values;
}

const ACTIONS: Readonly<Record<string, Action>> = {
  "--help": "help",
  "-h": "help",
  "--help-json": "help-json",
  "--version": "version",
  "-V": "version",
};

/**
 * Reads the arguments. `--name value`, `--name=value`, `-n value`, `-nvalue`, `--flag`, `--no-flag`, `--` ends options;
 * one positional argument is the model file. Throws UsageError.
 */
export function parseArguments(args: readonly string[]): CommandLine {
  let action: Action = "serve";
  const values = new Map<string, OptionValue>();
  const positionals: string[] = [];
  const queue = [...args];
  while (queue.length > 0) {
    const argument = queue.shift() as string;
    if (ACTIONS[argument]) action = ACTIONS[argument];
    else if (argument === "--") positionals.push(...queue.splice(0));
    else if (argument.startsWith("--")) readLong(argument, queue, values);
    else if (argument.startsWith("-") && argument.length > 1) readShort(argument, queue, values);
    else positionals.push(argument);
  }
  if (positionals[0] === "self-test") {
    action = "self-test";
    positionals.shift();
  }
  const [file, surplus] = positionals;
  if (surplus !== undefined) throw new UsageError(`One model file is served; "${surplus}" is one argument too many.`);
  if (file !== undefined) {
    if (values.has("model")) throw new UsageError(`The model is given twice: by --model and as "${file}".`);
    values.set("model", file);
  }
  return { action, values };
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
  throw new UsageError(`Unknown option --${name}.${suggestion(name)}`);
}

function readShort(argument: string, queue: string[], values: Map<string, OptionValue>): void {
  const letter = argument.slice(1, 2);
  const option = options.find((candidate) => candidate.aliases?.includes(letter));
  if (!option) throw new UsageError(`Unknown option -${letter}. See svc --help.`);
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
  const given = inline ?? queue.shift();
  if (given === undefined) throw new UsageError(`${origin} needs a value.`);
  if (option.type !== "list") {
    values.set(option.name, parseValue(option, given, origin));
    return;
  }
  // Repeated on the command line a value is taken as it is: a stop sequence may contain a comma.
  const earlier = (values.get(option.name) as readonly string[] | undefined) ?? [];
  values.set(option.name, [...earlier, ...(parseValue(option, [given], origin) as readonly string[])]);
}

const findLong = (name: string): Option | undefined =>
  options.find((option) => option.name === name || (name.length > 1 && option.aliases?.includes(name)));

function suggestion(name: string): string {
  const names = options.flatMap((option) => [
    option.name,
    ...(option.aliases ?? []).filter((alias) => alias.length > 1),
  ]);
  const nearest = names
    .map((candidate) => ({ candidate, far: distance(name, candidate) }))
    .sort((a, b) => a.far - b.far)[0];
  return nearest && nearest.far <= 3 ? ` Did you mean --${nearest.candidate}?` : " See svc --help.";
}

/** Edits that turn one word into the other (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
