// The same as cross-talk.test.ts with adapters, and where what was computed is kept in host memory and on disk.

import { expect, setDefaultTimeout, test } from "bun:test";
import type { AdapterSet } from "../../src/domain/adapters.ts";
import { makeAdapter } from "../models/make-adapter.ts";
import {
  ColdServer,
  compareWithCold,
  converse,
  converseOverRestarts,
  CROSS_TALK_FLAGS as flags,
  LONG_TIE,
  MOST_TIES,
} from "../support/cross-talk.ts";
import { temporaryFolder } from "../support/folders.ts";
import { metricValue } from "../support/metrics-text.ts";
import { PROGRAM, startServer, withServer } from "../support/server.ts";

setDefaultTimeout(240_000);

const one = { id: 0, scale: 1 };
const two = { id: 1, scale: 1 };
const SETS: readonly AdapterSet[] = [[], [one], [two], [one, two], [{ id: 0, scale: 0.5 }]];

test("the same with adapters: each conversation gets the answers of its own", async () => {
  const folder = temporaryFolder();
  const adapted = [...flags, ...[1, 2].flatMap((seed) => ["--lora", makeAdapter(folder, seed)])];
  await withServer([...adapted, "--parallel", "6"], async (warm) => {
    const exchanges = await converse(warm.url, {
      conversations: 15,
      clients: 8,
      seed: 2,
      adapters: SETS,
    });
    await warm.untilIdle(10_000);
    const cold = await ColdServer.start(adapted, PROGRAM);
    try {
      const result = await compareWithCold(cold, exchanges);
      expect(result.differences).toEqual([]);
      expect(result.counts.same).toBeGreaterThan(25);
      expect(result.cachedTokens).toBeGreaterThan(0);
    } finally {
      await cold.stop();
    }
  });
});

test("where each sequence has cells of its own, and host memory gives back what left them, everybody gets the answers of a cold server", async () => {
  const layout = ["--kv-mode", "streams", "--ctx", "6144", "--parallel", "3", "--cache-ram", "64"];
  await withServer([...flags, ...layout], async (warm) => {
    const exchanges = await converse(warm.url, { conversations: 48, clients: 8, seed: 3, long: true });
    await warm.untilIdle(10_000);
    const restored = metricValue(await warm.metrics(), "svc_kv_cache_restored_tokens_total");
    expect(restored).toBeGreaterThan(0);
    const cold = await ColdServer.start([...flags, "--ctx", "2048"], PROGRAM);
    try {
      const result = await compareWithCold(cold, exchanges, LONG_TIE);
      expect(result.differences).toEqual([]);
      expect(result.counts.tie).toBeLessThanOrEqual(Math.ceil(MOST_TIES * exchanges.length));
    } finally {
      await cold.stop();
    }
  });
});

test("conversations on disk, over restarts and crashes, get them too", async () => {
  const folder = temporaryFolder();
  const disk = ["--ctx", "2048", "--parallel", "6", "--cache-ram", "4", "--kv-dir", folder];
  const start = () => startServer([...flags, ...disk]);
  const options = { conversations: 32, clients: 8, seed: 2 };
  const { exchanges, restoredTokens } = await converseOverRestarts(start, options, 3);
  const cold = await ColdServer.start([...flags, "--ctx", "2048"], PROGRAM);
  try {
    const result = await compareWithCold(cold, exchanges, LONG_TIE);
    expect(result.differences).toEqual([]);
    expect(result.counts.tie).toBeLessThanOrEqual(Math.ceil(MOST_TIES * exchanges.length));
    expect(restoredTokens).toBeGreaterThan(0);
  } finally {
    await cold.stop();
  }
});
