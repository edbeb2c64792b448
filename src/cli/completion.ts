// `svc completion bash|zsh|fish`: what a shell completes, from the tables of options and commands.

import type { Option } from "../config/option.ts";
import { options } from "../config/options.ts";
import { UsageError } from "../config/parse.ts";
import { commandNames, commandOf, type Command } from "./commands.ts";

const SHELLS: Readonly<Record<string, () => string>> = { bash, zsh, fish };

/** The script for a shell. Throws UsageError for another one. */
export function completion(shell: string): string {
  const make = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
  if (!make) throw new UsageError(`svc completion knows bash, zsh and fish, not "${shell.slice(0, 20)}".`);
  return make();
}

const spellingsOf = ({ name, type, default: usual }: Option): string[] =>
  type === "boolean" && usual === true ? [`--${name}`, `--no-${name}`] : [`--${name}`];

const takesFile = ({ type, paths }: Option): boolean => type === "path" || paths !== undefined;

const flagsOf = ({ flags = [] }: Command): string[] =>
  flags.flatMap(({ name, short }) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]);

const everywhere = ["--help", "--help-all", "--version"];

function bash(): string {
  const files = options.filter(takesFile).map(({ name }) => `--${name}`);
  const choices = options.filter(({ choices: some }) => some !== undefined);
  const valued = options.filter(({ type }) => type !== "boolean").map(({ name }) => `--${name}`);
  const cases = commandNames
    .map((name) => [name, flagsOf(commandOf(name))] as const)
    .filter(([, flags]) => flags.length > 0)
    .map(([name, flags]) => `      ${name}) words="$words ${flags.join(" ")}" ;;`);
  return `# bash completion of svc: source <(svc completion bash)
_svc() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} words
  COMPREPLY=()
  case "$before" in
    ${files.join("|")}|-m|-o|--output) COMPREPLY=($(compgen -f -- "$current")); return ;;
${choices.map(({ name, choices: some = [] }) => `    --${name}) COMPREPLY=($(compgen -W "${some.join(" ")}" -- "$current")); return ;;`).join("\n")}
    ${valued.join("|")}) return ;;
  esac
  if [[ $current == -* ]]; then
    words="${[...options.flatMap(spellingsOf), ...everywhere].join(" ")}"
    case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  elif [[ $COMP_CWORD == 1 ]]; then
    COMPREPLY=($(compgen -W "${commandNames.join(" ")}" -- "$current") $(compgen -f -X '!*.gguf' -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _svc svc
`;
}

/** Inside single quotes, and without what _arguments reads in it. */
const zshText = (text: string) => text.replaceAll("'", "'\\''").replaceAll(/([[\]:])/g, "\\$1");

function zsh(): string {
  const specs = options.flatMap((option) => {
    const { type, choices, help } = option;
    const action = choices ? `(${choices.join(" ")})` : takesFile(option) ? "_files" : " ";
    const value = type === "boolean" ? "" : `:value:${action}`;
    return spellingsOf(option).map((spelling) => `    '*${spelling}[${zshText(help)}]${value}'`);
  });
  const listed = commandNames.map((name) => `    '${name}:${zshText(commandOf(name).help)}'`);
  const cases = commandNames.map((name) => {
    const flags = (commandOf(name).flags ?? []).flatMap(({ name: flag, short, value, help }) => {
      const rest = `[${zshText(help)}]${value === undefined ? "" : `:value:${flag === "output" ? "_files" : " "}`}`;
      return [`--${flag}`, ...(short === undefined ? [] : [`-${short}`])].map((one) => `'*${one}${rest}'`);
    });
    return `    ${name}) own=(${flags.join(" ")}) ;;`;
  });
  return `#compdef svc
# zsh completion of svc: svc completion zsh > ~/.zfunc/_svc
_svc() {
  local -a commands own all
  commands=(
${listed.join("\n")}
  )
  all=(
${specs.join("\n")}
    '--help[Show the help]' '--help-all[Show all options]' '--version[Show the version]'
  )
  case "$words[2]" in
${cases.join("\n")}
  esac
  _arguments -s $own $all '1:command or model:{_describe command commands; _files -g "*.gguf"}' '*:file:_files'
}
compdef _svc svc
`;
}

const fishText = (text: string) => text.replaceAll("\\", "\\\\").replaceAll("'", "\\'");

function fish(): string {
  const values = (option: Option) => {
    if (option.type === "boolean") return "";
    if (option.choices) return ` -x -a '${option.choices.join(" ")}'`;
    return takesFile(option) ? " -r -F" : " -x";
  };
  const commands = commandNames.map(
    (name) => `complete -c svc -n __fish_use_subcommand -a ${name} -d '${fishText(commandOf(name).help)}'`,
  );
  const own = commandNames.flatMap((name) =>
    (commandOf(name).flags ?? []).map(({ name: flag, short, value, help }) => {
      const letter = short === undefined ? "" : ` -s ${short}`;
      const takes = value === undefined ? "" : flag === "output" ? " -r -F" : " -x";
      return `complete -c svc -n '__fish_seen_subcommand_from ${name}' -l ${flag}${letter}${takes} -d '${fishText(help)}'`;
    }),
  );
  const all = options.flatMap((option) =>
    spellingsOf(option).map(
      (one) => `complete -c svc -l ${one.slice(2)}${values(option)} -d '${fishText(option.help)}'`,
    ),
  );
  const rest = everywhere.map((one) => `complete -c svc -l ${one.slice(2)}`);
  return `# fish completion of svc: svc completion fish > ~/.config/fish/completions/svc.fish
${[...commands, ...own, ...all, ...rest].join("\n")}
`;
}
