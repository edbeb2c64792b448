// The default folders and config file.

import { lstatSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { homeFolder, type Environment } from "./environment.ts";
import { UsageError } from "./parse.ts";

interface DefaultPaths {
  readonly cacheDir: string;
  readonly dataDir: string;
}

/**
 * Returns the XDG folders, else those in the home folder, else a private folder in the temporary folder. Throws
 * UsageError naming --cache-dir if other users own or may write that folder, because libraries are loaded from it.
 */
export function defaultPaths(
  environment: Environment,
  { home, temporary } = { home: homeFolder(environment), temporary: tmpdir() },
): DefaultPaths {
  return {
    cacheDir: xdgFolder(environment, "XDG_CACHE_HOME", home, ".cache") ?? privateFolder(temporary),
    dataDir: xdgFolder(environment, "XDG_DATA_HOME", home, ".local/share") ?? join(privateFolder(temporary), "data"),
  };
}

/** Returns the config file that is read, if it exists, when no file is named. */
export function defaultConfigFile(environment: Environment): string | undefined {
  const folder = xdgFolder(environment, "XDG_CONFIG_HOME", homeFolder(environment), ".config");
  return folder && join(folder, "config.toml");
}

/** Ignores a relative XDG folder, which the XDG specification requires because it is invalid. */
function xdgFolder(environment: Environment, variable: string, home: string | undefined, inHome: string) {
  const named = environment[variable];
  if (named && isAbsolute(named)) return join(named, "svc");
  return home && join(home, inHome, "svc");
}

function privateFolder(temporary: string): string {
  const uid = process.getuid?.() ?? -1;
  const folder = join(temporary, `svc-${uid}`);
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found && (!found.isDirectory() || found.uid !== uid || (found.mode & 0o022) !== 0)) {
    throw new UsageError(`${folder} is open to other users. Name folders with --cache-dir and --data-dir.`);
  }
  return folder;
}
