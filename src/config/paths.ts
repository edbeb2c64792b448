// Where svc keeps things when nobody says otherwise.

import { tmpdir } from "node:os";
import { join } from "node:path";
import { homeFolder, type Environment } from "./environment.ts";

export interface DefaultPaths {
  readonly cacheDir: string;
  readonly dataDir: string;
}

/** XDG folders, else the home folder's, else the temporary folder's. */
export function defaultPaths(environment: Environment): DefaultPaths {
  const home = homeFolder(environment);
  const base = (variable: string, ...inHome: string[]) =>
    environment[variable] ?? (home ? join(home, ...inHome) : tmpdir());
  return {
    cacheDir: join(base("XDG_CACHE_HOME", ".cache"), "svc"),
    dataDir: join(base("XDG_DATA_HOME", ".local", "share"), "svc"),
  };
}
