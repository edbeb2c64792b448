// `npm run test:fuzz`: mutated requests of every dialect to the real program with svc-mini. Each is answered or refused
// properly, the engine lives through all of them, and nothing is left behind: no work, no cells, no memory.
//   npm run test:fuzz -- [--cases N] [--seed N] [--dialect NAME] [--svc COMMAND]

import { parseArgs } from "node:util";
import { processTree, residentBytes } from "../support/processes.ts";
import { FROM_SOURCE, withServer, type TestServer } from "../support/server.ts";
import { fuzz, report } from "./run.ts";
import { seeds } from "./seeds.ts";
import type { TargetName } from "./targets.ts";

/** Caches and heaps find their size in the first half; garbage comes and goes, so the lower of two levels counts. */
const GROWTH_LIMIT = 1.25;
const QUARTERS = [0, 1, 2, 3] as const;

const text = { type: "string" } as const;
const { values } = parseArgs({ options: { cases: text, seed: text, dialect: text, svc: text } });
const cases = Number(values.cases ?? 2000);
const seed = Number(values.seed ?? 1);
const names = (Object.keys(seeds) as TargetName[]).filter(
  (name) => values.dialect === undefined || name === values.dialect,
);
const command = values.svc?.split(" ") ?? FROM_SOURCE;
let failed = 0;

function expectThat(condition: boolean, message: string): void {
  if (condition) return;
  failed++;
  console.log(`FAIL  ${message}`);
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

/** Resident memory of the front process and of the engine. */
function resident(server: TestServer): readonly [front: number, engine: number] {
  const [front = 0, ...engines] = processTree(server.pid).map((pid) => residentBytes(pid));
  return [front, engines.reduce((sum, bytes) => sum + bytes, 0)];
}

/**
 * One thread: what matters here is not speed, and several wait for each other on a busy machine. Little host memory: it is
 * full before memory is looked at for the first time.
 */
const LIMITS = [
  "--ctx",
  "4096",
  "--parallel",
  "8",
  "--max-queue",
  "64",
  "--max-tokens",
  "16",
  "--threads",
  "1",
  "--cache-ram",
  "16",
];

console.log(`fuzz: seed ${seed}, ${cases} requests for each of ${names.join(", ")}`);
await withServer(
  [...LIMITS, "--no-media-fetch"],
  async (server) => {
    const engine = server.enginePid();
    const levels: (readonly [front: number, engine: number])[] = [];
    for (const quarter of QUARTERS) {
      for (const name of names) {
        const count = cases >> 2;
        const outcome = await fuzz(name, { port: server.port, seed, first: quarter * count, count });
        console.log(report(name, outcome));
        expectThat(outcome.failures.length === 0, `${name}: ${outcome.failures.length} requests failed`);
        expectThat(server.enginePid() === engine, `${name}: the engine died`);
      }
      await server.untilIdle(60_000);
      const level = resident(server);
      levels.push(level);
      console.log(`quarter ${quarter + 1}: front ${megabytes(level[0])}, engine ${megabytes(level[1])}`);
    }
    for (const [index, part] of ["front", "engine"].entries()) {
      const of = levels.map((level) => level[index] ?? 0);
      const [before, after] = [Math.min(...of.slice(0, 2)), Math.min(...of.slice(2))];
      expectThat(after <= before * GROWTH_LIMIT, `${part} grew from ${megabytes(before)} to ${megabytes(after)}`);
    }
    const { engine: state } = await server.health();
    expectThat(
      state.state === "ready" && state.restarts === 0,
      `the engine is ${state.state} after ${state.restarts} restarts`,
    );
  },
  command,
);
console.log(failed === 0 ? `fuzz: no failure` : `fuzz: ${failed} failures`);
process.exit(failed === 0 ? 0 : 1);
