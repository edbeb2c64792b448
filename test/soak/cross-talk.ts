// `npm run test:cross-talk`: whatever a server computed before, and for whoever else, an answer is the one that a cold
// server gives. Random conversations that overlap, run at once and are left in the middle are asked again, one by one.
//   npm run test:cross-talk -- [--conversations N] [--clients N] [--model svc-mini|60m] [--seed N] [--threads N]
//                                [--svc COMMAND]

import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeModel } from "../bench/make-model.ts";
import { ColdServer, compareWithCold, converse, type CrossTalkOptions } from "../support/cross-talk.ts";
import { exitOnSignals } from "../support/kill-at-exit.ts";
import { FROM_SOURCE, withServer } from "../support/server.ts";

const ROOT = join(import.meta.dir, "../..");
const text = { type: "string" } as const;
const { values } = parseArgs({
  options: { conversations: text, clients: text, model: text, seed: text, threads: text, svc: text },
});
const options: CrossTalkOptions = {
  conversations: Number(values.conversations ?? 1000),
  clients: Number(values.clients ?? 8),
  seed: Number(values.seed ?? 1),
};
const command = values.svc?.split(" ") ?? FROM_SOURCE;
const model =
  values.model === "60m"
    ? makeModel("60m", join(ROOT, "vendor/.build/models"))
    : join(ROOT, "vendor/svc-mini/svc-mini-q8_0.gguf");
/** Less room than the clients' conversations need together: cells have to be taken away and given to others. */
const flags = ["--model", model, "--ctx", "2048", "--threads", values.threads ?? String(availableParallelism())];

exitOnSignals();
let failed = false;
await withServer(
  [...flags, "--parallel", "6"],
  async (warm) => {
    const exchanges = await converse(warm.url, options);
    await warm.untilIdle(10_000);
    console.log(`cross-talk: ${options.conversations} conversations, ${exchanges.length} answers; asking again, cold`);
    const cold = await ColdServer.start(flags, command);
    const result = await compareWithCold(cold, exchanges);
    await cold.stop();
    for (const difference of result.differences) console.log(`FAIL  ${difference}`);
    const { same, tie, different } = result.counts;
    console.log(
      `cross-talk: ${same} the same, ${tie} parted at a tie, ${different} different; ` +
        `${result.cut} were cut, ${result.cachedTokens} prompt tokens came from the cache`,
    );
    failed = different > 0;
  },
  command,
);
process.exit(failed ? 1 : 0);
