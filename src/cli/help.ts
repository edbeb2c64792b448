// Help texts, made from the tables of options and commands.

import { environmentName, type Option } from "../config/option.ts";
import { optionGroups, options } from "../config/options.ts";
import { version } from "../config/version.ts";
import { callOf, commandNames, commandOf, flagSpelling, type CommandName } from "./commands.ts";
import { exitCodes } from "./exit-codes.ts";

/** Width in columns that is assumed when the terminal reports none. */
export const USUAL_WIDTH = 100;
const INDENT = 34;
/** Below this width, two columns need too many lines: the right one then goes below, with this indentation. */
const NARROW = { width: 70, indent: 8 };

/** Calls without a command. */
export const plainCalls = [
  { call: "svc [options] [model.gguf]", help: "serve" },
  { call: 'svc -s "prompt" [options]', help: "answer once on standard output; --json prints the whole answer" },
  { call: "echo prompt | svc [options]", help: "the same, unless the command line has an option for serving" },
];

const calls = () => [
  ...plainCalls,
  ...commandNames.map((name) => ({ call: callOf(name), help: commandOf(name).help })),
];

/** The options that most people use; --help-all shows all of them. */
export const COMMON_OPTIONS = [
  "model",
  "pull",
  "chat-model",
  "pulled-models",
  "ctx",
  "host",
  "port",
  "api-key-file",
  "gateway",
  "temperature",
  "max-tokens",
  "parallel",
  "threads",
  "gpu-layers",
  "prompt",
];

/** Sources of values, highest precedence first. */
const PRECEDENCE = ["command line", "environment", "config file", "default"];

const DEFAULTS = "Defaults are in brackets. A config file and environment variables can set options, too";

const title = () => `svc ${version}: local AI models behind one HTTP server`;

/** Returns the text of `svc --help` for a terminal of `width` columns. */
export function helpText(width = USUAL_WIDTH): string {
  const shown = calls().map(({ call, help }) => entry(call, help, width));
  return `${title()}

Usage:
${shown.join("\n")}

Options:
${commonOptions(width).join("\n")}

${entry("-h, --help", "Show this help; after a command, the help of that command.", width)}
${entry("    --help-all", `Show all ${options.length} options.`, width)}
${entry("-V, --version", "Show the version.", width)}

${wrapped(`${DEFAULTS}: see --help-all.`, width, 0).join("\n")}
`;
}

/** Returns the lines of the common options, without `except`. */
const commonOptions = (width: number, except?: string): string[] =>
  options
    .filter(({ name }) => COMMON_OPTIONS.includes(name) && name !== except)
    .map((option) => entry(spelling(option), textOf(option), width));

/** Returns the text of `svc --help-all`. */
export function fullHelpText(width = USUAL_WIDTH): string {
  const groups = optionGroups.map((group) => {
    const lines = options.filter((option) => option.group === group).map((option) => optionHelp(option, width));
    return `${group}:\n${lines.join("\n")}`;
  });
  const codes = Object.values(exitCodes).map(({ code, meaning }) => `  ${code}  ${meaning}`);
  return `${title()}

Usage:
${calls()
  .map(({ call, help }) => entry(call, help, width))
  .join("\n")}

${groups.join("\n\n")}

Other:
${entry("-h, --help", "Show the most common options; after a command, the help of that command.", width)}
${entry("    --help-all", "Show this help.", width)}
${entry("    --help-json", "Show all options as JSON.", width)}
${entry("-V, --version", "Show the version.", width)}

Defaults are in brackets. Every option can also be set by its environment
variable (in braces) and in the file that --config names, by its long name:
max-queue = 8.
Precedence: ${PRECEDENCE.join(" > ")}.
Lists are comma-separated or JSON arrays, and their options can be repeated.

Exit codes:
${codes.join("\n")}
`;
}

/** Returns the text of `svc COMMAND --help`; for `serve`, whose options are svc's own, with the common ones. */
export function commandHelp(name: CommandName, width = USUAL_WIDTH): string {
  const { help, flags = [], reads = {}, readsMost, examples = [] } = commandOf(name);
  const isServe = name === "serve";
  const own = isServe
    ? commonOptions(width, "prompt")
    : [
        ...flags.map((flag) => entry(flagSpelling(flag), flag.help, width)),
        ...options
          .filter((option) => Object.hasOwn(reads, option.name))
          .map((option) => entry(spelling(option), textOf({ ...option, help: reads[option.name] ?? "" }), width)),
      ];
  const listed = own.length === 0 ? "" : `\nOptions:\n${own.join("\n")}\n`;
  const sentence = `${help.slice(0, 1).toUpperCase()}${help.slice(1)}.`;
  const usage = `Usage: ${callOf(name)}\n\n${wrapped(sentence, width, 0).join("\n")}\n`;
  const shown = examples.length === 0 ? "" : `\nExamples:\n${examples.map((call) => `  ${call}\n`).join("")}`;
  const more = isServe
    ? `${wrapped(`${DEFAULTS}.`, width, 0).join("\n")}\nsvc --help-all shows how, and all ${options.length} options.`
    : readsMost
      ? "The options of svc apply as well: svc --help-all."
      : "svc --help-all shows all options of svc, and how else to set them.";
  return `${usage}${listed}${shown}\n${more}\n`;
}

/** Returns the text of `svc --help-json`: every option with its type, limits, default and other spellings. */
export function helpJson(): string {
  const described = options.map(({ wanted: _wanted, name, secret, aliases, group, ...option }) => ({
    name,
    secret,
    aliases,
    group,
    ...option,
    environment: environmentName({ name }),
    config_key: name,
    negatable: option.type === "boolean",
    repeatable: option.type === "list",
  }));
  const document = {
    name: "svc",
    version,
    usage: calls(),
    precedence: PRECEDENCE,
    options: described,
    exit_codes: Object.values(exitCodes),
  };
  return JSON.stringify(document, undefined, 2);
}

/** Returns the option's spellings: `-p, --port NUMBER`. */
export function spelling(option: Option): string {
  const short = option.aliases?.find((alias) => alias.length === 1);
  const long = option.aliases?.filter((alias) => alias.length > 1).map((alias) => `, --${alias}`) ?? [];
  const name = option.type === "boolean" && option.default ? `[no-]${option.name}` : option.name;
  const value = placeholder(option);
  return `${short ? `-${short}, ` : "    "}--${name}${long.join("")}${value ? ` ${value}` : ""}`;
}

/** Describes what applies when the option is not given; empty when nothing does. */
export function defaultText(option: Option): string {
  if (option.default === undefined) return option.absent ?? "";
  return option.type === "boolean" ? (option.default ? "on" : "off") : String(option.default);
}

const textOf = (option: Option): string => {
  const fallback = defaultText(option);
  return `${option.help}${fallback === "" ? "" : ` [${fallback}]`}`;
};

const optionHelp = (option: Option, width: number): string =>
  entry(spelling(option), `${textOf(option)} {${environmentName(option)}}`, width);

function placeholder(option: Option): string {
  switch (option.type) {
    case "boolean":
      return "";
    case "integer":
    case "number":
      return "N";
    case "choice":
      return option.choices?.filter((choice) => !/^\d+$/.test(choice)).join("|") ?? "";
    case "json":
      return "JSON";
    default:
      return option.placeholder ?? "TEXT";
  }
}

/** Formats two columns; a left part that is too wide gets a line of its own. */
function entry(left: string, right: string, width: number): string {
  const first = `  ${left}`;
  const isNarrow = width < NARROW.width;
  const lines = wrapped(right, width, isNarrow ? NARROW.indent : INDENT);
  if (isNarrow) return [first, ...lines].join("\n");
  const fits = first.length < INDENT;
  return [...(fits ? [] : [first]), ...lines.with(0, (fits ? first : "").padEnd(INDENT) + lines[0]?.trimStart())].join(
    "\n",
  );
}

const wrapped = (text: string, width: number, indent: number): string[] =>
  Bun.wrapAnsi(text, width - indent)
    .split("\n")
    .map((line) => " ".repeat(indent) + line);
