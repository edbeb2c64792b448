// Help texts, all made from the options table.

import { environmentName, optionGroups, type Option } from "../config/option.ts";
import { options } from "../config/options.ts";
import { version } from "../config/version.ts";
import { exitCodes } from "./exit-codes.ts";

const WIDTH = 100;
const INDENT = 34;

/** The text of `svc --help`. */
export function helpText(): string {
  const groups = optionGroups.map((group) => {
    const lines = options.filter((option) => option.group === group).map(optionHelp);
    return `${group}:\n${lines.join("\n")}`;
  });
  const codes = Object.values(exitCodes).map(({ code, meaning }) => `  ${code}  ${meaning}`);
  return `svc ${version}: local AI models behind one HTTP server

Usage: svc [options] [model.gguf]
       svc -s "prompt"          answer once on standard output
       svc self-test            start, try every main route, stop

${groups.join("\n\n")}

Other:
${entry("-h, --help", "Show this help.")}
${entry("    --help-json", "Show all options as JSON.")}
${entry("-V, --version", "Show the version.")}

Every option can also be given as an environment variable (--max-queue is SVC_MAX_QUEUE) and in the file that --config
names (max-queue = 8). Flags win over the environment, the environment over the file, the file over the defaults.

Exit codes:
${codes.join("\n")}
`;
}

/** The text of `svc --help-json`: every option with its type, limits, default and other spellings. */
export function helpJson(): string {
  const described = options.map((option) => ({ ...option, environment: environmentName(option) }));
  return JSON.stringify({ name: "svc", version, options: described, exit_codes: exitCodes }, undefined, 2);
}

/** The option's spellings: `-p, --port NUMBER`. */
export function spelling(option: Option): string {
  const short = option.aliases?.find((alias) => alias.length === 1);
  const long = option.aliases?.filter((alias) => alias.length > 1).map((alias) => `, --${alias}`) ?? [];
  const name = option.type === "boolean" && option.default ? `[no-]${option.name}` : option.name;
  const value = placeholder(option);
  return `${short ? `-${short}, ` : "    "}--${name}${long.join("")}${value ? ` ${value}` : ""}`;
}

/** What applies when the option is not given, in words; empty when that is nothing. */
export function defaultText(option: Option): string {
  if ("absent" in option && option.absent) return option.absent;
  if (!("default" in option) || option.default === undefined) return "";
  return option.type === "boolean" ? (option.default ? "on" : "off") : String(option.default);
}

function optionHelp(option: Option): string {
  const fallback = defaultText(option);
  return entry(spelling(option), option.help + (fallback === "" ? "" : ` [${fallback}]`));
}

function placeholder(option: Option): string {
  switch (option.type) {
    case "boolean":
      return "";
    case "integer":
    case "number":
      return "N";
    case "choice":
      return option.choices.filter((choice) => !/^\d+$/.test(choice)).join("|");
    case "json":
      return "JSON";
    default:
      return option.placeholder ?? "TEXT";
  }
}

function entry(left: string, right: string): string {
  const lines: string[] = [];
  let line = `  ${left}`.padEnd(INDENT);
  if (line.length > INDENT) {
    lines.push(line);
    line = " ".repeat(INDENT);
  }
  for (const word of right.split(" ")) {
    if (line.length + word.length > WIDTH && line.trim() !== "") {
      lines.push(line.trimEnd());
      line = " ".repeat(INDENT);
    }
    line += `${word} `;
  }
  return [...lines, line.trimEnd()].join("\n");
}
