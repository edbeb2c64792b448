// `svc wait`: lets scripts wait until a server can answer.

import type { Config } from "../config/config.ts";
import { ExitError } from "./exit-codes.ts";
import { askServer, checkAdmitted, serverUrl } from "./running-server.ts";
import { writeOut } from "./write-out.ts";

const USUAL_S = 300;
const PAUSE_MS = 100;

/**
 * Prints the address of the server at --host and --port when it is healthy. Throws ExitError at the timeout, and when the
 * server refuses this caller.
 */
export async function waitForServer(config: Config, { timeout }: { readonly timeout?: string | true }): Promise<void> {
  const seconds = timeout === undefined ? USUAL_S : Number(timeout);
  if (!(seconds > 0)) throw new ExitError("usage", "--timeout must be a number of seconds above 0.");
  if (config.port === 0)
    throw new ExitError("usage", "--port 0 means any free port: name the port that the server listens on.");
  const url = serverUrl(config);
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const status = await statusOf(config, Math.max(0, deadline - performance.now()));
    if (status === "healthy") break;
    if (performance.now() + PAUSE_MS > deadline) {
      const found = status === undefined ? "No svc answers" : `The server is ${status}`;
      throw new ExitError("failure", `${found} at ${url} after ${seconds} s.`);
    }
    await Bun.sleep(PAUSE_MS);
  }
  await writeOut(`${url}\n`);
}

/** Returns the status that /health reports; undefined if nothing answers within `mostMs`. Throws ExitError for a refusal. */
async function statusOf(config: Config, mostMs: number): Promise<string | undefined> {
  try {
    const response = await askServer(config, "/health", undefined, mostMs);
    await checkAdmitted(serverUrl(config), response);
    const { status } = (await response.json()) as { status?: string };
    return status;
  } catch (error) {
    if (error instanceof ExitError) throw error;
    return undefined;
  }
}
