// An answer does not depend on what the server computed before or computes beside it: not a token of another
// conversation, nothing of a client that left. `cross-talk.long.test.ts` looks at adapters, and at what is kept elsewhere; `npm run
// test:cross-talk` does the same for as long as wanted.

import { expect, test } from "bun:test";
import { ColdServer, compareWithCold, converse, CROSS_TALK_FLAGS as flags } from "../support/cross-talk.ts";
import { PROGRAM, withServer } from "../support/server.ts";

const CONVERSATIONS = 10;

test("overlapping conversations get the answers that a cold server gives", async () => {
  await withServer([...flags, "--parallel", "6"], async (warm) => {
    const exchanges = await converse(warm.url, { conversations: CONVERSATIONS, clients: 8, seed: 1 });
    await warm.untilIdle(10_000);
    const cold = await ColdServer.start(flags, PROGRAM);
    try {
      const result = await compareWithCold(cold, exchanges);
      expect(result.differences).toEqual([]);
      expect(result.counts.same).toBeGreaterThan(15);
      // Clients that left in the middle are the point: without them this test would show less than it says.
      expect(result.cut).toBeGreaterThan(0);
    } finally {
      await cold.stop();
    }
  });
}, 240_000);
