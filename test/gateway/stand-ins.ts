// Starts stand-ins for chat servers as separate processes.

import { join } from "node:path";
import { killAtExit } from "../support/kill-at-exit.ts";

export interface StandIn {
  readonly url: string;
  kill(signal: NodeJS.Signals): void;
}

/** Starts a stand-in and resolves when it listens; `port` 0 means a free port. */
export const startStandIn = (port = 0): Promise<StandIn> =>
  startListening(join(import.meta.dir, "stand-in.ts"), String(port));

/** Starts a test program that prints its address when it listens. */
export async function startListening(program: string, ...given: readonly string[]): Promise<StandIn> {
  const child = Bun.spawn([process.execPath, program, ...given], { stdout: "pipe" });
  killAtExit(child);
  const { value } = await child.stdout.getReader().read();
  return { url: new TextDecoder().decode(value).trim(), kill: (signal) => child.kill(signal) };
}
