// `npm run test:cross-talk`: whatever a server computed before, and for whom, its answer must be that of a cold server.
// Random conversations that overlap, run concurrently and are cancelled midway are sent again, one by one.
//   npm run test:cross-talk -- [--conversations N] [--clients N] [--model svc-mini|60m] [--seed N] [--threads N]
//                                [--rounds N] [--kv-mode paged|unified|streams] [--svc COMMAND]
// Between rounds the server is stopped or killed, and continues with the conversations that it left on disk.

import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeModel } from "../bench/make-model.ts";
import {
  ColdServer,
  compareWithCold,
  converseOverRestarts,
  LONG_TIE,
  MOST_TIES,
  type CrossTalkOptions,
} from "../support/cross-talk.ts";
import { exitOnSignals } from "../support/kill-at-exit.ts";
import { PROGRAM, startServer } from "../support/server.ts";

const ROOT = join(import.meta.dir, "../..");
const text = { type: "string" } as const;
const { values } = parseArgs({
  options: {
    conversations: text,
    clients: text,
    model: text,
    seed: text,
    threads: text,
    rounds: text,
    "kv-mode": text,
    svc: text,
  },
});
const options: CrossTalkOptions = {
  conversations: Number(values.conversations ?? 1000),
  clients: Number(values.clients ?? 8),
  seed: Number(values.seed ?? 1),
};
const command = values.svc?.split(" ") ?? PROGRAM;
const model =
  values.model === "60m"
    ? makeModel("60m", join(ROOT, "vendor/.build/models"))
    : join(ROOT, "vendor/svc-mini/svc-mini-q8_0.gguf");
/** Fewer cells than the clients' conversations need together, so that cells must be reassigned. */
const flags = ["--model", model, "--ctx", "2048", "--threads", values.threads ?? String(availableParallelism())];

/** Little host memory as well, and less disk space than all conversations need. */
const folder = mkdtempSync(join(tmpdir(), "svc-cross-talk-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const PARALLEL = 6;
const kvMode = values["kv-mode"];
const warm = [
  ...flags,
  ...(kvMode === undefined ? [] : ["--kv-mode", kvMode]),
  // In this mode each sequence has its own share of the cells.
  ...(kvMode === "streams" ? ["--ctx", String(2048 * PARALLEL)] : []),
  "--parallel",
  String(PARALLEL),
  "--cache-ram",
  "4",
  "--kv-dir",
  folder,
  "--kv-dir-size",
  "32",
];

exitOnSignals();
const start = () => startServer(warm, command);
const { exchanges, restoredTokens } = await converseOverRestarts(start, options, Number(values.rounds ?? 6));
console.log(`cross-talk: ${options.conversations} conversations, ${exchanges.length} answers; asking again, cold`);
const cold = await ColdServer.start(flags, command);
const result = await compareWithCold(cold, exchanges, LONG_TIE);
await cold.stop();
for (const difference of result.differences) console.log(`FAIL  ${difference}`);
const { same, tie, different } = result.counts;
console.log(
  `cross-talk: ${same} the same, ${tie} parted at a tie, ${different} different; ${result.cut} were cut, ` +
    `${result.cachedTokens} prompt tokens came from the cache, ${restoredTokens} tokens from disk`,
);
if (restoredTokens === 0) console.log("FAIL  nothing came from disk");
const tooMany = tie > MOST_TIES * exchanges.length;
if (tooMany) console.log(`FAIL  more than ${100 * MOST_TIES} % parted at a tie`);
process.exit(different > 0 || restoredTokens === 0 || tooMany ? 1 : 0);
