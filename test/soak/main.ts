// `npm run test:soak`: storms, kills, deadlines and mixed load for as long as requested, in every KV layout; then
// nothing may be left behind.
//   npm run test:soak -- [--rounds N | --minutes N] [--model svc-mini|60m] [--threads N] [--svc COMMAND]

import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeModel } from "../bench/make-model.ts";
import { describeFootprint, footprint, growth, type Footprint } from "../support/footprint.ts";
import { exitOnSignals } from "../support/kill-at-exit.ts";
import { PROGRAM, withServer, type TestServer } from "../support/server.ts";
import { disconnectStorm } from "../support/storm.ts";
import { hurriedLoad, killEngine, mixedLoad } from "./loads.ts";

const IDLE_WITHIN_MS = 1000;
const GROWTH_LIMITS = { memory: 1.15, files: 4, settling: 2 };
const LAYOUTS = ["paged", "unified", "streams"] as const;

const text = { type: "string" } as const;
const { values } = parseArgs({ options: { rounds: text, minutes: text, model: text, threads: text, svc: text } });
/** Rounds per layout. */
const rounds = values.minutes === undefined ? Number(values.rounds ?? 6) : Number.POSITIVE_INFINITY;
const layoutMs = (Number(values.minutes ?? Number.POSITIVE_INFINITY) * 60_000) / LAYOUTS.length;
const command = values.svc?.split(" ") ?? PROGRAM;
const ROOT = join(import.meta.dir, "../..");
const model =
  values.model === "svc-mini"
    ? join(ROOT, "vendor/svc-mini/svc-mini-q8_0.gguf")
    : makeModel("60m", join(ROOT, "vendor/.build/models"));
const threads = values.threads ?? String(availableParallelism());
const failures: string[] = [];
exitOnSignals();

function report(where: string, found: readonly string[]): void {
  for (const failure of found) {
    failures.push(failure);
    console.log(`FAIL  ${where}: ${failure}`);
  }
}

/** Runs one round; returns what the server uses afterwards. */
async function runRound(server: TestServer, round: number, where: string): Promise<Footprint> {
  const storm = await disconnectStorm(server.url, { clients: 64, longestStayMs: 3000, seed: round });
  report(
    where,
    storm.failures.map((failure) => `a leaving client saw ${failure}`),
  );
  const idleMs = Math.round(await server.untilIdle(30_000));
  if (idleMs > IDLE_WITHIN_MS) report(where, [`idle only ${idleMs} ms after the last client left`]);
  report(where, await hurriedLoad(server, round));
  report(where, await mixedLoad(server, round));
  await server.untilIdle(30_000);
  const held = footprint(server.pid);
  const { left, finished } = storm;
  console.log(`${where}: ${left} left, ${finished} finished, idle in ${idleMs} ms, ${describeFootprint(held)}`);
  return held;
}

for (const layout of LAYOUTS) {
  const room = ["--ctx", "32768", "--parallel", "16", "--max-queue", "128", "--cache-ram", "64", "--kv-mode", layout];
  await withServer(
    ["--model", model, "--threads", threads, ...room],
    async (server) => {
      const until = performance.now() + layoutMs;
      const held: Footprint[] = [];
      for (let round = 1; round <= rounds && performance.now() < until; round++) {
        held.push(await runRound(server, round, `${layout}, round ${round}`));
      }
      const grown = growth(held, GROWTH_LIMITS);
      if (grown) report(layout, grown);
      else console.log(`${layout}: ${held.length} rounds are too few to tell whether anything grows`);
      for (let kill = 1; kill <= 2; kill++) report(`${layout}, kill ${kill}`, await killEngine(server));
      await server.untilIdle(5000);
    },
    command,
  );
}
console.log(failures.length === 0 ? "soak: no failure" : `soak: ${failures.length} failures`);
process.exit(failures.length === 0 ? 0 : 1);
