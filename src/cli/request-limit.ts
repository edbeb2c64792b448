// Bun's `fetch` sends at most 256 requests at a time, so that one slow upstream would hold up all others. A variable
// changes that, but Bun reads it only when a process starts.

import type { Config } from "../config/config.ts";
import { environmentWith, processEnvironment, type Environment } from "../config/environment.ts";
import type { Logger } from "../telemetry/log.ts";
import { ownProgram } from "./own-program.ts";

const VARIABLE = "BUN_CONFIG_MAX_HTTP_REQUESTS";
/** The most that Bun accepts. */
const MOST = "65336";

/**
 * Starts this program anew in the same process, with the variable set, if it may need more requests at a time. Returns
 * if it does not, or if the system cannot do that. `user`: the user's unmodified environment. Nothing may have been
 * read from standard input or another pipe, or written.
 */
export function liftRequestLimit(config: Config, user: Environment): void {
  if (!isLimited(config, user) || process.platform === "win32") return;
  const [executable, ...entry] = ownProgram();
  const flags = Bun.isStandaloneExecutable ? [] : process.execArgv;
  const args = [process.argv0, ...flags, ...entry, ...process.argv.slice(2)];
  try {
    process.execve?.(executable, args, environmentWith(user, { [VARIABLE]: MOST }));
  } catch {
    // The limit stays, and `warnOfRequestLimit` says so.
  }
}

/** Logs a warning while upstreams share the limit. */
export function warnOfRequestLimit(config: Config, log: Logger): void {
  if (!isLimited(config, processEnvironment())) return;
  log.warn(`at most 256 requests run at all upstreams together; start svc with ${VARIABLE}=${MOST} to allow more`);
}

const isLimited = ({ gateway: { upstreams, discover } }: Config, environment: Environment): boolean =>
  (upstreams.length > 0 || discover) && !environment[VARIABLE];
