// Stand-ins for chat servers as processes of their own.

import { join } from "node:path";
import { killAtExit } from "../support/kill-at-exit.ts";

export interface StandIn {
  readonly url: string;
  kill(signal: NodeJS.Signals): void;
}

/** Resolves when it listens; `port` 0 is a free one. */
export const startStandIn = (port = 0): Promise<StandIn> =>
  startListening(join(import.meta.dir, "stand-in.ts"), String(port));

/** A program of the tests that prints its address when it listens. */
export async function startListening(program: string, argument: string): Promise<StandIn> {
  const child = Bun.spawn([process.execPath, program, argument], { stdout: "pipe" });
  killAtExit(child);
  const { value } = await child.stdout.getReader().read();
  return { url: new TextDecoder().decode(value).trim(), kill: (signal) => child.kill(signal) };
}
