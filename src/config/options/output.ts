// Where things are read from and written to.

import type { Option } from "../option.ts";

export const outputOptions: readonly Option[] = [
  {
    name: "config",
    group: "Output and files",
    type: "path",
    placeholder: "FILE",
    help: "TOML file with options by name; default: $XDG_CONFIG_HOME/svc/config.toml or ~/.config/svc/config.toml, if it is there.",
  },
  {
    name: "log-level",
    group: "Output and files",
    type: "choice",
    choices: ["debug", "info", "warn", "error"],
    default: "info",
    help: "Least important lines to log, on standard error.",
  },
  {
    name: "verbose",
    aliases: ["v"],
    group: "Output and files",
    type: "boolean",
    default: false,
    help: "The same as --log-level debug.",
  },
  {
    name: "log-format",
    group: "Output and files",
    type: "choice",
    choices: ["text", "json"],
    default: "text",
    help: "Form of log lines; with json nothing else is written to standard error.",
  },
  {
    name: "trace-file",
    group: "Output and files",
    type: "path",
    placeholder: "FILE",
    help: "Write the engine's timeline here, for chrome://tracing or Perfetto: steps, phases of requests, levels; no text. Replaces the file; ends at 256 MiB.",
  },
  {
    name: "cache-dir",
    group: "Output and files",
    type: "path",
    placeholder: "DIR",
    help: "Folder for the unpacked native libraries; default: $XDG_CACHE_HOME/svc or ~/.cache/svc.",
  },
  {
    name: "data-dir",
    group: "Output and files",
    type: "path",
    placeholder: "DIR",
    help: "Folder for what the server keeps, made when there is something: files and batches; default: $XDG_DATA_HOME/svc or ~/.local/share/svc.",
  },
  {
    name: "models-dir",
    group: "Output and files",
    type: "path",
    placeholder: "DIR",
    help: "Folder for the models that svc pull downloads; default: models in the data folder.",
  },
];
