// `svc wait`: lets scripts wait until a server can answer.

import type { Config } from "../config/config.ts";
import type { Health } from "../contract/health.ts";
import type { FlagsOf } from "./commands.ts";
import { ExitError } from "./exit-codes.ts";
import { askServer, checkAdmitted, checkScheme, serverUrl, type Where } from "./running-server.ts";
import { writeWarning } from "./terminal.ts";
import { writeOut } from "./write-out.ts";

type Logged = Pick<Config, "logFormat" | "logLevel">;

const USUAL_S = 300;
const PAUSE_MS = 100;

/**
 * Prints the address of the server at --host and --port when it serves, with a warning when some of it does not. Throws
 * ExitError at the timeout, and when the server refuses this caller.
 */
export async function waitForServer(config: Where & Logged, { timeout }: FlagsOf<"wait">): Promise<void> {
  const seconds = timeout === undefined ? USUAL_S : Number(timeout);
  if (!(seconds > 0)) throw new ExitError("usage", "--timeout must be a number of seconds above 0.");
  if (config.port === 0)
    throw new ExitError("usage", "--port 0 means any free port: name the port that the server listens on.");
  const url = serverUrl(config);
  const deadline = performance.now() + seconds * 1000;
  let health: Partial<Health> = {};
  for (;;) {
    // What came before holds where nothing comes in time: the last look may have little.
    health = (await healthOf(config, Math.max(PAUSE_MS, deadline - performance.now()))) ?? health;
    const { status } = health;
    if (status === "healthy") break;
    if (status === "degraded" && serves(health)) {
      writeWarning(`The server at ${url} is degraded: ${url}/health names what fails.`, config);
      break;
    }
    if (performance.now() + PAUSE_MS > deadline) {
      const found = status === undefined ? "No svc answers" : `The server is ${status}`;
      const hint =
        status === "degraded" && !health.engine ? " With an API key, svc wait sees whether its model serves." : "";
      throw new ExitError("failure", `${found} at ${url} after ${seconds} s.${hint}`);
    }
    await Bun.sleep(PAUSE_MS);
  }
  await writeOut(`${url}\n`);
}

/** Returns whether the server's own model serves or, without one, an upstream. */
function serves({ engine, upstreams = [] }: Partial<Health>): boolean {
  if (engine?.state !== "none") return engine?.state === "ready";
  return upstreams.length === 0 || upstreams.some(({ state }) => state === "up");
}

/**
 * Returns what /health reports: nothing where no svc answers, undefined where no answer comes within `mostMs`. Throws
 * ExitError for a refusal.
 */
async function healthOf(config: Where, mostMs: number): Promise<Partial<Health> | undefined> {
  try {
    const response = await askServer(config, "/health", undefined, mostMs);
    await checkAdmitted(serverUrl(config), response);
    return ((await response.json()) as Partial<Health> | null) ?? {};
  } catch (error) {
    if (error instanceof ExitError) throw error;
    if (error instanceof Error && error.name === "TimeoutError") return undefined;
  }
  await checkScheme(config, mostMs);
  return {};
}
