// Generates pages from the options table: options, environment, exit codes, an example config file, the man page.

import { exitCodes } from "../../src/cli/exit-codes.ts";
import { callOf, commandNames, commandOf, flagSpelling, type CommandName } from "../../src/cli/commands.ts";
import { defaultText, plainCalls, spelling } from "../../src/cli/help.ts";
import { environmentName, type Option } from "../../src/config/option.ts";
import { optionGroups, options } from "../../src/config/options.ts";
import { page, table } from "./table.ts";

const code = (text: string) => `\`${text}\``;

export function optionsPage(): string {
  const groups = optionGroups.map((group) => {
    const rows = options
      .filter((option) => option.group === group)
      .map((option) => [
        code(spelling(option).trim()),
        defaultText(option),
        `${option.help} ${code(environmentName(option))}`,
      ]);
    return `## ${group}\n\n${table(["option", "default", "meaning"], rows)}`;
  });
  const precedence = `Each option can be set in four places; the first one that has it takes precedence: **command line**, **environment** (the name at the
end of each row), **config file**, default. \`svc --help\` prints the most common options, \`svc --help-all\` all of them, \`svc COMMAND --help\` those
of a command, \`svc --help-json\` all of them as JSON.

The config file is TOML with the long names as keys: the one that \`--config\` names, else \`~/.config/svc/config.toml\` if it
exists. An unknown key is an error. Relative paths in it start at its own folder. [An example with all keys](config.example.toml).

\`\`\`toml
model = "models/model.gguf"
port = 8080
parallel = 8
stop = ["</answer>"]
\`\`\`

Lists are comma-separated or JSON arrays (\`--stop '["\\n\\n", ", "]'\`), and their options can be repeated. Of any other
option given twice, the last value counts; two different files or folders are an error. Switches have a \`--no-\` form. Times are
in seconds unless the row says otherwise.`;
  const calls = table(
    ["command", "what it does", "its own options"],
    [
      ...plainCalls.map(({ call, help }) => [code(call), help, ""]),
      ...commandNames.map((name) => [code(callOf(name)), commandOf(name).help, ownFlags(name)]),
    ],
  );
  const shells = `Commands and options are completed in bash with \`source <(svc completion bash)\` in \`~/.bashrc\`, in zsh with
\`source <(svc completion zsh)\` after \`compinit\` in \`~/.zshrc\`, and in fish after
\`mkdir -p ~/.config/fish/completions && svc completion fish > ~/.config/fish/completions/svc.fish\`.`;
  return page("Options", precedence, `## Commands\n\n${calls}\n\n${shells}`, ...groups);
}

const ownFlags = (name: CommandName): string =>
  (commandOf(name).flags ?? []).map((flag) => `${code(flagSpelling(flag).trim())} ${flag.help}`).join(" ");

/** Environment variables that are not svc's own options, and what they do. */
export const otherVariables: readonly (readonly [name: string, meaning: string])[] = [
  ["HF_TOKEN", "Token for private and gated repositories, sent only to the hub (svc pull)."],
  ["HF_ENDPOINT", "Mirror of Hugging Face (svc pull)."],
  ["NPM_CONFIG_REGISTRY", "Mirror of npm's registry (svc pull tessdata:NAME)."],
  [
    "TESSDATA_PREFIX",
    "Folder of trained data, as for Tesseract itself; it takes precedence over the folders of the system's packages.",
  ],
  ["HTTP_PROXY, HTTPS_PROXY, ALL_PROXY", "Proxy for downloads and for upstreams that are not on this machine."],
  ["NODE_EXTRA_CA_CERTS", "File with further certificates to trust, such as a company's own, in PEM format."],
  ["NO_PROXY", "Hosts that are reached without a proxy; loopback always is."],
  ["HOME, XDG_CONFIG_HOME, APPDATA", "Folders in which svc looks for the config file."],
  ["XDG_CACHE_HOME", "Parent of the cache folder, without --cache-dir."],
  ["XDG_DATA_HOME", "Parent of the data folder, without --data-dir."],
  ["LOCALAPPDATA", "The same for both folders on Windows."],
  [
    "TMPDIR, TEMP",
    "Parent of the temporary folder for files in requests (TEMP on Windows). Together they take up to twice --max-audio-mb, or 1 GiB if that is more.",
  ],
];

export function environmentPage(): string {
  const rows = options.map((option) => [code(environmentName(option)), code(`--${option.name}`), typeOf(option)]);
  const text = `Every option has an environment variable; [options](options.md) says what each means. The command line takes precedence over the
environment, the environment over the config file.`;
  const others = otherVariables.map(([names, meaning]) => [names.split(", ").map(code).join(", "), meaning]);
  return page(
    "Environment variables",
    text,
    table(["variable", "option", "value"], rows),
    "## Other variables",
    table(["variable", "meaning"], others),
  );
}

export function exitCodesPage(): string {
  const rows = Object.values(exitCodes).map(({ code: number, meaning }) => [String(number), meaning]);
  return page("Exit codes", table(["code", "meaning"], rows));
}

/** Returns every key, commented out, with its default or an example. */
export function exampleConfig(): string {
  const groups = optionGroups.map((group) => {
    // Options that concern a single call of the program are left out.
    const rows = options.filter((option) => option.group === group && isForFile(option));
    return rows.length === 0 ? "" : `\n## ${group}\n\n${rows.map(exampleRow).join("\n")}`;
  });
  return `# Every option of svc with its default, or with an example (marked so) where the default depends on the model or the
# machine, or where there is none. Copy it to ~/.config/svc/config.toml, and remove the # before what you change.
# Generated by \`bun build.ts docs\`.
${groups.join("")}`;
}

const isForFile = ({ name }: Option) => name !== "config" && name !== "prompt" && name !== "instructions";

function exampleRow(option: Option): string {
  const note = option.absent === undefined ? " Example:" : ` Default: ${option.absent}. Example:`;
  return `# ${option.help}${option.default === undefined ? note : ""}\n# ${option.name} = ${exampleValue(option)}\n`;
}

function exampleValue({ name, type, default: fallback, example }: Option): string {
  const value = fallback ?? example;
  if (value === undefined) throw new Error(`The option --${name} has no default and needs an example.`);
  const text = JSON.stringify(value);
  // JSON objects are not TOML, but options also take them as text.
  return type === "json" ? JSON.stringify(text) : text;
}

const choice = new Intl.ListFormat("en-GB", { type: "disjunction" });
/** Returns the parts of the placeholder: "`FILE` or `NAME`" for `FILE|NAME`. */
const wordsOf = ({ placeholder = "TEXT" }: Option) => choice.format(placeholder.split("|").map(code));

const typeOf = (option: Option): string => {
  const { type, choices, minimum, maximum } = option;
  if (type === "choice") return (choices ?? []).map(code).join(", ");
  if (type === "boolean") return "`true`, `false`";
  if (type === "path" || type === "string") return wordsOf(option);
  if (type === "list") return `list of ${wordsOf(option)}, comma-separated or a JSON array`;
  if (type === "json") return "JSON object";
  return `${type}, ${minimum} to ${maximum}`;
};

/**
 * Escapes text for roff, where backslashes, quotes and dots at the start of a line have a meaning, and all is ASCII.
 */
const roff = (text: string) =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll('"', "\\(dq")
    .replaceAll(/^([.'])/gm, "\\&$1")
    .replaceAll(/[^ -~\n]/g, (letter) => `\\[u${letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);

export function manPage(): string {
  const entry = (term: string, text: string) => `.TP\n.B ${roff(term)}\n${roff(text)}`;
  const command = (name: CommandName) => {
    const { help, flags = [] } = commandOf(name);
    const own = flags.map((flag) => entry(flagSpelling(flag).trim(), flag.help));
    return [entry(callOf(name), help), ...(own.length === 0 ? [] : [".RS", ...own, ".RE"])].join("\n");
  };
  const groups = optionGroups.map((group) => {
    const rows = options.filter((option) => option.group === group);
    const entries = rows.map((option) => {
      const fallback = defaultText(option);
      const note = `${fallback === "" ? "" : ` Default: ${fallback}.`} Environment: ${environmentName(option)}.`;
      return entry(spelling(option).trim(), `${option.help}${note}`);
    });
    return `.SS ${group}\n${entries.join("\n")}`;
  });
  return `.TH SVC 1
.SH NAME
svc \\- local AI models behind one HTTP server
.SH SYNOPSIS
.B svc
[options] [model.gguf]
.SH COMMANDS
${plainCalls.map(({ call, help }) => entry(call, help)).join("\n")}
${commandNames.map(command).join("\n")}
.SH OPTIONS
Precedence: command line, environment, config file, default.
${groups.join("\n")}
.SH EXIT STATUS
${Object.values(exitCodes)
  .map(({ code: number, meaning }) => entry(String(number), meaning))
  .join("\n")}
.SH ENVIRONMENT
Every option has a variable, as above.
${otherVariables.map(([names, meaning]) => entry(names, meaning)).join("\n")}
.SH FILES
${entry("~/.config/svc/config.toml", "Options by their long names.")}
${entry("~/.cache/svc", "Unpacked native libraries.")}
${entry("~/.local/share/svc", "Downloaded models, uploaded files, batches.")}
`;
}
