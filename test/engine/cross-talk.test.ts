// An answer does not depend on what the server computed before or computes beside it: not a token of another
// conversation, nothing of a client that left. `cross-talk.long.test.ts` looks at what is kept elsewhere; `npm run
// test:cross-talk` does the same for as long as wanted.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AdapterSet } from "../../src/domain/adapters.ts";
import { makeAdapter } from "../models/make-adapter.ts";
import { ColdServer, compareWithCold, converse, CROSS_TALK_FLAGS as flags } from "../support/cross-talk.ts";
import { FROM_SOURCE, withServer } from "../support/server.ts";

const CONVERSATIONS = 15;

const one = { id: 0, scale: 1 };
const two = { id: 1, scale: 1 };
const SETS: readonly AdapterSet[] = [[], [one], [two], [one, two], [{ id: 0, scale: 0.5 }]];

test("overlapping conversations get the answers that a cold server gives", async () => {
  await withServer([...flags, "--parallel", "6"], async (warm) => {
    const exchanges = await converse(warm.url, { conversations: CONVERSATIONS, clients: 8, seed: 1 });
    await warm.untilIdle(10_000);
    const cold = await ColdServer.start(flags, FROM_SOURCE);
    try {
      const result = await compareWithCold(cold, exchanges);
      expect(result.differences).toEqual([]);
      expect(result.counts.same).toBeGreaterThan(25);
      // Clients that left in the middle are the point: without them this test would show less than it says.
      expect(result.cut).toBeGreaterThan(0);
    } finally {
      await cold.stop();
    }
  });
}, 240_000);

test("the same with adapters: each conversation gets the answers of its own", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-cross-talk-"));
  const adapted = [...flags, ...[1, 2].flatMap((seed) => ["--lora", makeAdapter(folder, seed)])];
  try {
    await withServer([...adapted, "--parallel", "6"], async (warm) => {
      const exchanges = await converse(warm.url, {
        conversations: CONVERSATIONS,
        clients: 8,
        seed: 2,
        adapters: SETS,
      });
      await warm.untilIdle(10_000);
      const cold = await ColdServer.start(adapted, FROM_SOURCE);
      try {
        const result = await compareWithCold(cold, exchanges);
        expect(result.differences).toEqual([]);
        expect(result.counts.same).toBeGreaterThan(25);
        expect(result.cachedTokens).toBeGreaterThan(0);
      } finally {
        await cold.stop();
      }
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 240_000);
