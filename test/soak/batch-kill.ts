// `npm run test:batch-kill`: a server that is killed at random must answer each line of a batch exactly once.
//   npm run test:batch-kill -- [--of chats|vectors|recordings] [--lines N] [--kills N] [--seed N] [--svc COMMAND]

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { randomNumbers } from "../support/dice.ts";
import { chats, killBatch, recordings, vectors } from "../support/batch-kill.ts";
import { exitOnSignals } from "../support/kill-at-exit.ts";
import { PROGRAM } from "../support/server.ts";

const text = { type: "string" } as const;
const { values } = parseArgs({ options: { of: text, lines: text, kills: text, seed: text, svc: text } });
const jfk = await Bun.file(join(import.meta.dir, "../fixtures/sounds/jfk.wav")).bytes();
const tasks = new Map(Object.entries({ chats, vectors, recordings: recordings(jfk.toBase64()) }));
const task = tasks.get(values.of ?? "chats");
if (!task) throw new Error(`--of must be one of ${[...tasks.keys()].join(", ")}`);
const dataDir = mkdtempSync(join(tmpdir(), "svc-batch-kill-"));
const [lines, kills] = [Number(values.lines ?? 2000), Number(values.kills ?? 20)];

exitOnSignals();
process.on("exit", () => rmSync(dataDir, { recursive: true, force: true }));
const { kills: done, faults } = await killBatch({
  lines,
  kills,
  task,
  random: randomNumbers(Number(values.seed ?? 1)),
  dataDir,
  command: values.svc?.split(" ") ?? PROGRAM,
  log: (line) => console.log(line),
});
for (const fault of faults.slice(0, 20)) console.log(`FAIL  ${fault}`);
if (done < kills) console.log(`FAIL  the batch was done after ${done} kills of ${kills}: give it more lines`);
console.log(`batch-kill: ${lines} lines, ${done} kills, ${faults.length} faults`);
process.exit(faults.length === 0 && done === kills ? 0 : 1);
