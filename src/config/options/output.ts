// Options for logs, and for files and folders to read and write.

import { boolean, choice, integer, path, string } from "../option-types.ts";
import { defaultPaths } from "../paths.ts";
import { toReleases } from "../releases.ts";

export const outputOptions = {
  configFile: path({
    name: "config",
    placeholder: "FILE",
    help: "TOML file with options by their long names; default, if it exists: $XDG_CONFIG_HOME/svc/config.toml or ~/.config/svc/config.toml, on Windows %APPDATA%/svc/config.toml.",
  }),
  logLevel: choice(["debug", "verbose", "info", "warn", "error"], {
    default: "info",
    help: "Minimum log level; logs go to standard error. verbose adds decisions about requests, debug also the log of the engine.",
  }),
  verbose: boolean({ aliases: ["v"], default: false, help: "The same as --log-level verbose." }),
  quiet: boolean({
    aliases: ["q"],
    default: false,
    help: "The same as --log-level warn: no banner, no progress, no line per request.",
  }),
  logFormat: choice(["text", "json"], {
    default: "text",
    help: "Log format; with json, only JSON lines are written to standard error.",
  }),
  traceFile: path({
    placeholder: "FILE",
    example: "trace.json",
    help: "Write an engine trace for chrome://tracing or Perfetto: steps, phases of requests and counters, but no text of requests. Overwrites the file; stops at 256 MiB.",
  }),
  cacheDir: path({
    placeholder: "DIR",
    example: "/var/cache/svc",
    otherwise: (environment) => defaultPaths(environment).cacheDir,
    help: "Folder for the unpacked native libraries and embedded models; default: $XDG_CACHE_HOME/svc or ~/.cache/svc, on Windows %LOCALAPPDATA%/svc/cache.",
  }),
  fetchComponents: boolean({
    default: false,
    help: "Download a component that svc-slim lacks when a request first needs it. Without this option, such requests fail with 503 engine_unavailable.",
  }),
  releases: string({
    placeholder: "URL",
    example: "https://svc.example.com/releases",
    to: toReleases,
    help: "URL from which svc update and svc-slim download; every download is verified by its checksum. Default: where this build was released.",
  }),
  dataDir: path({
    placeholder: "DIR",
    example: "/var/lib/svc",
    otherwise: (environment) => defaultPaths(environment).dataDir,
    help: "Folder for files, batches and downloaded models, created when needed; default: $XDG_DATA_HOME/svc or ~/.local/share/svc, on Windows %LOCALAPPDATA%/svc/data.",
  }),
  dataSize: integer(1, 16_777_216, {
    default: 10_240,
    help: "Maximum size of all files and batches in the data folder in MiB, with their records; requests that exceed it fail with 507 storage_full.",
  }),
  modelsDir: path({
    placeholder: "DIR",
    example: "/srv/models",
    help: "Folder for models downloaded by svc pull; default: models in the data folder.",
  }),
};
