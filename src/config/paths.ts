// The default folders and config file.

import { lstatSync, type Stats } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { fileReason } from "../domain/system-error-code.ts";
import { homeFolder, type Environment } from "./environment.ts";
import { UsageError } from "./parse.ts";

interface DefaultPaths {
  readonly cacheDir: string;
  readonly dataDir: string;
}

/** A system's folders: the variable that names one, where else it is in the home folder, and what svc uses in it. */
type Places = Readonly<Record<"cache" | "data" | "config", readonly [string, string, string]>>;
const XDG: Places = {
  cache: ["XDG_CACHE_HOME", ".cache", "svc"],
  data: ["XDG_DATA_HOME", ".local/share", "svc"],
  config: ["XDG_CONFIG_HOME", ".config", "svc"],
};
const WINDOWS: Places = {
  cache: ["LOCALAPPDATA", "AppData/Local", "svc/cache"],
  data: ["LOCALAPPDATA", "AppData/Local", "svc/data"],
  config: ["APPDATA", "AppData/Roaming", "svc"],
};

interface System {
  readonly home: string | undefined;
  readonly temporary: string;
  readonly isWindows: boolean;
}

const systemOf = (environment: Environment): System => ({
  home: homeFolder(environment),
  temporary: tmpdir(),
  isWindows: process.platform === "win32",
});

/**
 * Returns the user's folders, else those in the home folder, else a private folder in the temporary folder. Throws
 * UsageError naming --cache-dir if that folder cannot be read, or if other users own or may write it, because libraries
 * are loaded from it.
 */
export function defaultPaths(environment: Environment, system = systemOf(environment)): DefaultPaths {
  return {
    cacheDir: folderOf("cache", environment, system) ?? privateFolder(system.temporary),
    dataDir: folderOf("data", environment, system) ?? join(privateFolder(system.temporary), "data"),
  };
}

/** Returns the config file that is read, if it exists, when no file is named. */
export function defaultConfigFile(environment: Environment, system = systemOf(environment)): string | undefined {
  const folder = folderOf("config", environment, system);
  return folder && join(folder, "config.toml");
}

/** Ignores a relative folder in a variable, which the XDG specification requires because it is invalid. */
function folderOf(kind: keyof Places, environment: Environment, { home, isWindows }: System) {
  const [variable, inHome, own] = (isWindows ? WINDOWS : XDG)[kind];
  const named = environment[variable];
  if (named && isAbsolute(named)) return join(named, own);
  return home && join(home, inHome, own);
}

function privateFolder(temporary: string): string {
  const uid = process.getuid?.() ?? -1;
  const folder = join(temporary, `svc-${uid}`);
  const found = lookAt(folder);
  if (found && (!found.isDirectory() || found.uid !== uid || (found.mode & 0o022) !== 0)) {
    throw new UsageError(`${folder} is open to other users. ${REMEDY}`);
  }
  return folder;
}

const REMEDY = "Name folders with --cache-dir and --data-dir.";

function lookAt(folder: string): Stats | undefined {
  try {
    return lstatSync(folder, { throwIfNoEntry: false });
  } catch (error) {
    throw new UsageError(`${folder} cannot be used: ${fileReason(error)}. ${REMEDY}`);
  }
}
