// Where svc keeps things when nobody says otherwise.

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
 * The XDG folders, else those in the home folder, else a private one in the temporary folder. Throws UsageError naming
 * --cache-dir when that one belongs to somebody else: libraries are loaded from it.
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

/** The config file that is read when none is named, if it exists. */
export function defaultConfigFile(environment: Environment): string | undefined {
  const folder = xdgFolder(environment, "XDG_CONFIG_HOME", homeFolder(environment), ".config");
  return folder && join(folder, "config.toml");
}

/** A relative XDG folder is invalid and must be ignored, says their specification. */
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
