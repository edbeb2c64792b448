// The cost of an attack for the front process: its peak memory, and the slowest response of `/health` meanwhile.

import { residentBytes } from "../support/processes.ts";
import { withServer, type TestServer } from "../support/server.ts";
import type { Row } from "./row.ts";
import { watchHealth } from "./slowest-health.ts";

/** Most bytes of the front process during any of these attacks. */
export const MOST_MEMORY = 1.5e9;

interface Outcome {
  /** The result of the attack, for the table. */
  readonly came: string;
  /** Whether the attack ended as it should. */
  readonly ok: boolean;
}

/** Measures an attack on a new server with these flags; `slowestMs`: the limit for `/health`. */
export async function watched(
  flags: readonly string[],
  slowestMs: number,
  attack: (server: TestServer) => Promise<Outcome>,
): Promise<Pick<Row, "figure" | "limit" | "ok">> {
  let figure = "";
  let held = false;
  await withServer(flags, async (server) => {
    const health = await watchHealth(server.url);
    const { came, ok } = await attack(server);
    const slowest = await health.end();
    const most = residentBytes(server.pid, "peak");
    figure = `${(most / 1e9).toFixed(2)} GB, /health ${Math.round(slowest)} ms; ${came}`;
    held = ok && most < MOST_MEMORY && slowest < slowestMs;
  });
  return { figure, limit: `${MOST_MEMORY / 1e9} GB, /health ${slowestMs} ms`, ok: held };
}
