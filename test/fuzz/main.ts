// `npm run test:fuzz`: sends mutated requests of every API to the real program with svc-mini. Each must be answered or
// refused properly, the engine must survive all of them, and nothing may be left behind: no work, no cells, no memory.
//   npm run test:fuzz -- [--cases N] [--seed N] [--dialect NAME] [--svc COMMAND]

import { parseArgs } from "node:util";
import { describeFootprint, footprint, growth, type Footprint } from "../support/footprint.ts";
import { PROGRAM, withServer } from "../support/server.ts";
import { fuzz, report } from "./run.ts";
import { seeds } from "./seeds.ts";
import type { TargetName } from "./targets.ts";

const QUARTERS = [0, 1, 2, 3] as const;

const text = { type: "string" } as const;
const { values } = parseArgs({ options: { cases: text, seed: text, dialect: text, svc: text } });
const cases = Number(values.cases ?? 2000);
const seed = Number(values.seed ?? 1);
const names = (Object.keys(seeds) as TargetName[]).filter(
  (name) => values.dialect === undefined || name === values.dialect,
);
const command = values.svc?.split(" ") ?? PROGRAM;
let failed = 0;

function expectThat(condition: boolean, message: string): void {
  if (condition) return;
  failed++;
  console.log(`FAIL  ${message}`);
}

/**
 * One thread: speed does not matter here, and several threads wait for each other on a busy machine. Little host
 * memory, so that it is full before memory is measured for the first time. A short context: a request for 2^31 tokens
 * that ends no turn may use all of it for each of its choices, and several such requests took more than a minute to
 * fill 4096 tokens. A deadline would end them as well, but would also hide hangs.
 */
const LIMITS = [
  "--ctx",
  "1024",
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
    const levels: Footprint[] = [];
    for (const quarter of QUARTERS) {
      for (const name of names) {
        const count = cases >> 2;
        const outcome = await fuzz(name, { port: server.port, seed, first: quarter * count, count });
        console.log(report(name, outcome));
        expectThat(outcome.failures.length === 0, `${name}: ${outcome.failures.length} requests failed`);
        expectThat(server.enginePid() === engine, `${name}: the engine died`);
      }
      await server.untilIdle(60_000);
      const level = footprint(server.pid);
      levels.push(level);
      console.log(`quarter ${quarter + 1}: ${describeFootprint(level)}`);
    }
    for (const sentence of growth(levels, { memory: 1.25 }) ?? []) expectThat(false, sentence);
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
