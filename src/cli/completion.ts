// `svc completion bash|zsh|fish`: prints a shell's completion script, made from the tables of options and commands.

import type { Option } from "../config/option.ts";
import { options } from "../config/options.ts";
import { didYouMean, UsageError } from "../config/parse.ts";
import { commandNames, commandOf, type Command } from "./commands.ts";
import { own } from "../domain/own.ts";

const SHELLS: Readonly<Record<string, () => string>> = { bash, zsh, fish };

/** Returns the script for a shell. Throws UsageError for an unknown shell. */
export function completion(shell: string): string {
  const make = own(SHELLS, shell);
  if (!make) {
    const meant = didYouMean(shell, Object.keys(SHELLS));
    throw new UsageError(`svc completion knows bash, zsh and fish, not "${shell.slice(0, 20)}".${meant}`);
  }
  return make();
}

/** Returns `--name`, `-n`, and `--no-name` for switches that are on by default. */
const spellingsOf = ({ name, type, default: usual, aliases = [] }: Option): string[] => [
  `--${name}`,
  ...(type === "boolean" && usual === true ? [`--no-${name}`] : []),
  ...aliases.filter(({ length }) => length === 1).map((letter) => `-${letter}`),
];

const takesFile = ({ type, paths }: Option): boolean => type === "path" || paths !== undefined;

const flagsOf = ({ flags = [] }: Command): string[] =>
  flags.flatMap(({ name, short }) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]);

const everywhere = ["--help", "-h", "--help-all", "--version", "-V"];

/** A command that prints the names of the downloaded models, in any shell. */
const NAMES = 'svc list 2>/dev/null | tail -n +2 | cut -d " " -f 1';

/** Before names of files or models become completions in bash: a name ends at the end of its line, not at a space. */
const BY_LINE = "local IFS=$'\\n';";

function bash(): string {
  const spelled = (wanted: (option: Option) => boolean | undefined) =>
    options.filter(wanted).flatMap(spellingsOf).join("|");
  const choices = options
    .filter(({ choices: some }) => some !== undefined)
    .map(
      (option) =>
        `    ${spellingsOf(option).join("|")}) COMPREPLY=($(compgen -W "${option.choices?.join(" ")}" -- "$current")); return ;;`,
    );
  const operands = commandNames.map((name) => {
    const { operands: kind = [] } = commandOf(name);
    if (kind === "files") return `      ${name}) ${BY_LINE} COMPREPLY=($(compgen -f -- "$current")) ;;`;
    if (kind === "models") return `      ${name}) _svc_named ;;`;
    return `      ${name}) COMPREPLY=($(compgen -W "${kind.join(" ")}" -- "$current")) ;;`;
  });
  const cases = commandNames
    .map((name) => [name, flagsOf(commandOf(name))] as const)
    .filter(([, flags]) => flags.length > 0)
    .map(([name, flags]) => `      ${name}) words="$words ${flags.join(" ")}" ;;`);
  return `# bash completion of svc: source <(svc completion bash)
_svc_models() { ${NAMES}; }
_svc_named() {
  local typed=\${whole%"$current"}
  COMPREPLY=($(compgen -W "$(_svc_models)" -- "$whole"))
  COMPREPLY=("\${COMPREPLY[@]#"$typed"}")
}
_svc() {
  local at=$COMP_CWORD current=\${COMP_WORDS[COMP_CWORD]} words
  # Bash splits a word at : and =, except bash 3.2 of macOS, and replaces only what follows the last of them.
  local whole=$current
  while ((at > 1)) && [[ \${COMP_WORDS[at]} == [:=] || \${COMP_WORDS[at-1]} == [:=] ]]; do
    whole=\${COMP_WORDS[--at]}$whole
  done
  local before=\${COMP_WORDS[at-1]}
  if [[ $whole == -*=* ]]; then before=\${whole%%=*} whole=\${whole#*=}; fi
  local breaks=\${COMP_WORDBREAKS//[^:=]}
  if [[ $breaks ]]; then current=\${current##*[$breaks]}; fi
  COMPREPLY=()
  case "$before" in
    ${spelled(({ orName }) => orName)}) ${BY_LINE} _svc_named; COMPREPLY+=($(compgen -f -- "$current")); return ;;
    ${spelled(takesFile)}|-o|--output) ${BY_LINE} COMPREPLY=($(compgen -f -- "$current")); return ;;
${choices.join("\n")}
    ${spelled(({ type }) => type !== "boolean")}) return ;;
  esac
  if [[ $current == -* ]]; then
    words="${[...options.flatMap(spellingsOf), ...everywhere].join(" ")}"
    case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  elif [[ $COMP_CWORD == 1 && $current == "$whole" ]]; then
    COMPREPLY=($(compgen -W "${commandNames.join(" ")}" -- "$current"))
    ${BY_LINE} COMPREPLY+=($(compgen -f -X '!*.gguf' -- "$current"))
  else
    case "\${COMP_WORDS[1]}" in
${operands.join("\n")}
      *) ${BY_LINE} COMPREPLY=($(compgen -f -- "$current")) ;;
    esac
  fi
}
complete -o filenames -F _svc svc
`;
}

/** Escapes a text for single quotes, and the brackets and colons that _arguments would interpret. */
const zshText = (text: string) => text.replaceAll("'", "'\\''").replaceAll(/([[\]:])/g, "\\$1");

/** Returns the zsh action that completes the values of an option. */
function zshValues(option: Option): string {
  if (option.choices) return `(${option.choices.join(" ")})`;
  if (option.orName) return "{_svc_models; _files}";
  return takesFile(option) ? "_files" : " ";
}

/** Returns the zsh action that completes the operands of a command. */
function zshOperands({ operands }: Command): string {
  if (operands === "files") return "_files";
  if (operands === "models") return "_svc_models";
  return operands ? `(${operands.join(" ")})` : " ";
}

function zsh(): string {
  const specs = options.flatMap((option) => {
    const { type, help } = option;
    const value = type === "boolean" ? "" : `:value:${zshValues(option)}`;
    return spellingsOf(option).map((spelling) => `    '*${spelling}[${zshText(help)}]${value}'`);
  });
  const listed = commandNames.map((name) => `    '${name}:${zshText(commandOf(name).help)}'`);
  const cases = commandNames.map((name) => {
    const flags = (commandOf(name).flags ?? []).flatMap(({ name: flag, short, value, help }) => {
      const rest = `[${zshText(help)}]${value === undefined ? "" : `:value:${flag === "output" ? "_files" : " "}`}`;
      return [`--${flag}`, ...(short === undefined ? [] : [`-${short}`])].map((one) => `'*${one}${rest}'`);
    });
    return `    ${name}) own=(${flags.join(" ")}) operands='*:operand:${zshOperands(commandOf(name))}' ;;`;
  });
  return `#compdef svc
# zsh completion of svc: source <(svc completion zsh), after compinit
_svc_models() {
  local -a names=(\${(f)"$(${NAMES})"})
  compadd "$@" -a names
}
_svc() {
  local operands='*:file:_files'
  local -a commands own all
  commands=(
${listed.join("\n")}
  )
  all=(
${specs.join("\n")}
    '(-h --help)'{-h,--help}'[Show the help]' '--help-all[Show all options]' '(-V --version)'{-V,--version}'[Show the version]'
  )
  case "$words[2]" in
${cases.join("\n")}
  esac
  _arguments -s $own $all '1:command or model:{_describe command commands; _files -g "*.gguf"}' $operands
}
# Autoloaded from fpath, the file is the function's first call.
if [ "$funcstack[1]" = _svc ]; then _svc "$@"; else compdef _svc svc; fi
`;
}

const fishText = (text: string) => text.replaceAll("\\", "\\\\").replaceAll("'", "\\'");

function fish(): string {
  const values = (option: Option) => {
    if (option.type === "boolean") return "";
    if (option.choices) return ` -x -a '${option.choices.join(" ")}'`;
    if (option.orName) return ` -r -F -a '(${NAMES})'`;
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
  const operands = commandNames.flatMap((name) => {
    const { operands: kind = [] } = commandOf(name);
    if (kind === "files") return [];
    const some = kind === "models" ? `(${NAMES})` : kind.join(" ");
    return `complete -c svc -n '__fish_seen_subcommand_from ${name}' -f${some && ` -a '${some}'`}`;
  });
  const written = (one: string) => (one.startsWith("--") ? `-l ${one.slice(2)}` : `-s ${one.slice(1)}`);
  const all = options.flatMap((option) =>
    spellingsOf(option).map((one) => `complete -c svc ${written(one)}${values(option)} -d '${fishText(option.help)}'`),
  );
  const rest = everywhere.map((one) => `complete -c svc ${written(one)}`);
  return `# fish completion of svc: svc completion fish > ~/.config/fish/completions/svc.fish
${[...commands, ...own, ...operands, ...all, ...rest].join("\n")}
`;
}
