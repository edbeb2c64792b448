// Help texts, all made from the options table.

import { environmentName, optionGroups, type Option } from "../config/option.ts";
import { options } from "../config/options.ts";
import { version } from "../config/version.ts";
import { exitCodes } from "./exit-codes.ts";

const WIDTH = 100;
const INDENT = 34;

const USAGE = [
  { call: "svc [options] [model.gguf]", help: "serve" },
  { call: "svc serve [options]", help: "serve, whatever is on standard input" },
  { call: 'svc -s "prompt" [options]', help: "answer once on standard output" },
  { call: "echo prompt | svc [options]", help: "the same, unless an option of the server is given" },
  {
    call: "svc transcribe FILE… [-o PATH]",
    help: "recordings as text (--format text, srt, vtt, json; --language, --translate)",
  },
  {
    call: "svc ocr FILE… [-o DIR]",
    help: "text of pictures (--format text, markdown, csv, json; --language, --pages)",
  },
  {
    call: "svc say TEXT [-o FILE]",
    help: "text as speech (--voice, --locale, --speed, --format); --voices lists them",
  },
  {
    call: "svc draw PROMPT [-o FILE]",
    help: "images from a description (-n, --size, --seed, --steps, --format)",
  },
  { call: "svc models [--json]", help: "list what the server at --host and --port serves" },
  {
    call: "svc pull MODEL [options]",
    help: "download owner/repository[:QUANT], a URL, whisper:NAME, kokoro, flux2-klein, …",
  },
  { call: "svc list [--json]", help: "show the downloaded models and data" },
  { call: "svc rm MODEL", help: "remove one of these" },
  { call: "svc self-test [options]", help: "start on a free port, try the main routes, stop" },
];

/** Where values come from, the strongest first. */
const PRECEDENCE = ["command line", "environment", "config file", "default"];

/** The text of `svc --help`. */
export function helpText(): string {
  const groups = optionGroups.map((group) => {
    const lines = options.filter((option) => option.group === group).map(optionHelp);
    return `${group}:\n${lines.join("\n")}`;
  });
  const codes = Object.values(exitCodes).map(({ code, meaning }) => `  ${code}  ${meaning}`);
  return `svc ${version}: local AI models behind one HTTP server

${USAGE.map(({ call, help }, index) => `${index === 0 ? "Usage:" : "      "} ${call.padEnd(29)} ${help}`).join("\n")}

${groups.join("\n\n")}

Other:
${entry("-h, --help", "Show this help.")}
${entry("    --help-json", "Show all options as JSON.")}
${entry("-V, --version", "Show the version.")}

Every option is also read from the environment (in braces above) and from the file that --config names, where it has
its long name: max-queue = 8. Precedence: ${PRECEDENCE.join(" > ")}.
Lists are comma-separated or JSON arrays, and flags of lists can be repeated.

Exit codes:
${codes.join("\n")}
`;
}

/** The text of `svc --help-json`: every option with its type, limits, default and other spellings. */
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
    usage: USAGE,
    precedence: PRECEDENCE,
    options: described,
    exit_codes: Object.values(exitCodes),
  };
  return JSON.stringify(document, undefined, 2);
}

/** The options as Markdown tables, one a group, for the README. */
export function optionsMarkdown(): string {
  const table = (group: Option["group"]) => {
    const rows = options.filter((option) => option.group === group).map(markdownRow);
    return `**${group}**\n\n| option | default | meaning |\n| --- | --- | --- |\n${rows.join("\n")}`;
  };
  return optionGroups.map(table).join("\n\n");
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
  if (option.default === undefined) return option.absent ?? "";
  return option.type === "boolean" ? (option.default ? "on" : "off") : String(option.default);
}

function optionHelp(option: Option): string {
  const fallback = defaultText(option);
  return entry(
    spelling(option),
    `${option.help}${fallback === "" ? "" : ` [${fallback}]`} {${environmentName(option)}}`,
  );
}

function markdownRow(option: Option): string {
  const cells = [
    `\`${spelling(option).trim()}\``,
    defaultText(option),
    `${option.help} \`${environmentName(option)}\``,
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

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
